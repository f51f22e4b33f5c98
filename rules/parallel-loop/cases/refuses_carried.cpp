void prefix(int n, double *a) {
    for (int i = 1; i < n; i++)
        a[i] = a[i] + a[i - 1]; // reason: carried-dependence
}
