static double a[100][100];
void lower() {
    for (int j = 0; j < 100; j++) // reason: bounds-not-rectangular
        for (int i = j; i < 100; i++)
            a[i][j] = i + j;
}
