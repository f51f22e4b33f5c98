static double a[100][100], b[100][100];
void transpose() {
    for (int i = 0; i < 100; i++) // reason: bounds-not-rectangular
        for (int j = 0; j < i; j++)
            b[j][i] = a[i][j];
}
