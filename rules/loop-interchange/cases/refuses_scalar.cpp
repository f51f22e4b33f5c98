static double a[100][100];
double walk(double x) {
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++) {
            x = x * 0.5 + a[i][j]; // reason: scalar-carried
            a[i][j] = x;
        }
    return x;
}
