static double a[100][100], b[100];
void rows() {
    for (int j = 0; j < 100; j++) { // reason: nest-not-perfect
        b[j] = j;
        for (int i = 0; i < 100; i++)
            a[i][j] = i;
    }
}
