static double a[100][100];
void fill() {
    for (int i = 0; i < 100; i++) // reason: no-reuse
        for (int j = 0; j < 100; j++)
            a[i][j] = a[i][j] * 0.5;
}
