static double a[100][100];
void sweep() {
    for (int i = 1; i < 99; i++)
        for (int j = 1; j < 99; j++)
            a[i][j] = a[i - 1][j + 1] * 0.5; // reason: interchange-reverses-dependence
}
