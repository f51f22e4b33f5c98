void chase(int n, const int *where, const double *table, double *out) {
    for (int i = 0; i < n; i++)
        out[i] = table[where[i]]; // reason: possible-overlap
}
