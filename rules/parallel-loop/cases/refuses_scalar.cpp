void recurrence(int n, unsigned seed, unsigned *out) {
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u; // reason: scalar-carried
        out[i] = seed;
    }
}
