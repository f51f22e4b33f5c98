void running(int n, const int *a, int *b) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += a[i]; // reason: scalar-carried
        b[i] = s;
    }
}
