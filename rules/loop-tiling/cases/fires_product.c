/* Old style loop variables, three loops, and a step of two. */
#include <stdio.h>

static float a[70][70], b[70][70], c[70][70];

static void multiply(void) {
    int i, j, k;
    for (i = 0; i < 69; i++)
        for (k = 0; k < 69; k += 2)
            for (j = 0; j <= 68; j++)
                c[i][j] += a[i][k] * b[k][j];
}

int main(void) {
    double checksum = 0.0;
    int i, j;
    for (i = 0; i < 70; i++)
        for (j = 0; j < 70; j++)
            a[i][j] = (float)((i * 3 + j) % 17), b[i][j] = (float)((i + j * 5) % 13);
    multiply();
    for (i = 0; i < 70; i++)
        for (j = 0; j < 70; j++)
            checksum = checksum * 0.999 + c[i][j];
    printf("%.17g\n", checksum);
    return 0;
}
