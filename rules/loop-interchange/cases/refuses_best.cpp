static double a[100][100];
void fill() {
    for (int i = 0; i < 100; i++) // reason: stride-already-best
        for (int j = 0; j < 100; j++)
            a[i][j] = i + j;
}
