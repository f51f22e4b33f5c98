void scatter(int n, const int *to, const double *from, double *out) {
    for (int i = 0; i < n; i++)
        out[to[i]] = from[i]; // reason: nonaffine-write
}
