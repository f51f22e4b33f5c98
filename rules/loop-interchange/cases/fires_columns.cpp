// A matrix walked down its columns.
#include <cstdio>

static void shift(double *m, int rows, int columns) {
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i)
            m[i * columns + j] = m[i * columns + j] * 0.5 + 1.0;
}

int main() {
    static double m[80 * 70];
    for (int i = 0; i < 80 * 70; i++)
        m[i] = i % 23;
    shift(m, 80, 70);
    double checksum = 0.0;
    for (int i = 0; i < 80 * 70; i++)
        checksum = checksum * 0.999 + m[i];
    std::printf("%.17g\n", checksum);
}
