static double a[100][100];
void skew() {
    for (int j = 1; j < 99; j++)
        for (int i = 1; i < 99; i++)
            a[i][j] = a[i + 1][j - 1] + 1.0; // reason: interchange-reverses-dependence
}
