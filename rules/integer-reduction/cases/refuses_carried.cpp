int histogram(int n, int *a) {
    int s = 0;
    for (int i = 1; i < n; i++) {
        a[i] = a[i - 1] + 1; // reason: carried-dependence
        s += a[i];
    }
    return s;
}
