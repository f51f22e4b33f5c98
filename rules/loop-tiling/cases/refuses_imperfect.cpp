static double a[100][100], b[100];
void rows() {
    for (int i = 0; i < 100; i++) { // reason: nest-not-perfect
        b[i] = i;
        for (int j = 0; j < 100; j++)
            a[j][i] = i;
    }
}
