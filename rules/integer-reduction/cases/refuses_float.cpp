float sum(int n, const float *a) {
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i]; // reason: float-reduction-order
    return s;
}
