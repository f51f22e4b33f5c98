/* A maths function sets errno in some iterations: the caller must find it set. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

static void roots(int n, const double *x, double *y) {
    for (int i = 0; i < n; i++)
        y[i] = sqrt(x[i]);
}

int main(void) {
    static double x[500], y[500];
    double checksum = 0.0;
    for (int i = 0; i < 500; i++)
        x[i] = i == 321 ? -1.0 : i * 0.1;
    errno = 0;
    roots(500, x, y);
    int bad = errno == EDOM;
    for (int i = 0; i < 500; i++)
        checksum = checksum * 0.99 + (y[i] == y[i] ? y[i] : 7.0);
    printf("%.17g %d\n", checksum, bad);
    return 0;
}
