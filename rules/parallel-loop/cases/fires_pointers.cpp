// The guard tests that the two arrays do not overlap.
#include <cstdio>

static void scale_and_add(int n, double a, const double *x, double *y) {
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

int main() {
    static double x[1000], y[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = i * 0.37 - 11.0, y[i] = 1.0 / (i + 1);
    scale_and_add(1000, 1.5, x, y);
    double checksum = 0.0;
    for (int i = 0; i < 1000; i++)
        checksum = checksum * 0.99 + y[i];
    std::printf("%.17g\n", checksum);
}
