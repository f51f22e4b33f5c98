// A line of b that one pass over j touches is used again in the next eight passes: blocks keep it in the cache.
#include <cstdio>

enum { N = 100 };
static double a[N][N], b[N][N];

static void transpose() {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[j][i] = a[i][j];
}

int main() {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i * 3.5 - j;
    transpose();
    double checksum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            checksum = checksum * 0.999 + b[i][j];
    std::printf("%.17g\n", checksum);
}
