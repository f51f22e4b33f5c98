void copy(int n, const int *a, int *b) {
    for (int i = 0; i < n; i++) // reason: no-reduction
        b[i] = a[i];
}
