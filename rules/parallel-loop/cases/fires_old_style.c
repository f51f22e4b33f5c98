/* Loop variables declared at the top of the function, and read after the loop. */
#include <math.h>
#include <stdio.h>

static float table[50][40];

static int fill(int rows, int columns) {
    int i, j;
    for (i = 0; i < rows; i++)
        for (j = columns - 1; j >= 0; j -= 3)
            table[i][j] = (float)(i - j) / (float)(i + j + 1);
    return i * 1000 + j;
}

int main(void) {
    double checksum = 0.0;
    int i, j, left;
    left = fill(50, 40);
    for (i = 0; i < 50; i++)
        for (j = 0; j < 40; j++)
            checksum = checksum * 0.99 + table[i][j];
    printf("%.17g %d\n", checksum, left);
    return 0;
}
