/* The caller's rounding mode holds in every thread, and the flags that threads raise reach the caller. */
#include <fenv.h>
#include <stdio.h>

static void invert(int n, const double *x, double *y) {
    for (int i = 0; i < n; i++)
        y[i] = 1.0 / x[i];
}

int main(void) {
    static double x[600], y[600];
    double checksum = 0.0;
    for (int i = 0; i < 600; i++)
        x[i] = i == 599 ? 0.0 : i + 3.0;
    fesetround(FE_UPWARD);
    feclearexcept(FE_ALL_EXCEPT);
    invert(600, x, y);
    int raised = fetestexcept(FE_ALL_EXCEPT);
    fesetround(FE_TONEAREST);
    for (int i = 0; i < 599; i++)
        checksum = checksum * 0.99 + y[i];
    printf("%.17g %d %d\n", checksum, raised == (FE_DIVBYZERO | FE_INEXACT), fegetround() == FE_TONEAREST);
    return 0;
}
