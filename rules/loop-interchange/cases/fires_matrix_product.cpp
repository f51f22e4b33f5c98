// The sum into c[i][j] keeps the order of its terms: only the place where they are added moves inwards.
#include <cstdio>

enum { N = 60 };
static double a[N][N], b[N][N], c[N][N];

static void multiply() {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                c[i][j] += a[i][k] * b[k][j];
}

int main() {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (i * 3 + j) % 17 * 0.3, b[i][j] = (i + j * 5) % 13 * 0.7, c[i][j] = 0;
    multiply();
    double checksum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            checksum = checksum * 0.999 + c[i][j];
    std::printf("%.17g\n", checksum);
}
