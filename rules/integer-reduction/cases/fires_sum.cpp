// Signed sum: partial sums are formed without overflow.
#include <cstdio>

static int total(const int *a, int n) {
    int s = 5;
    for (int i = 0; i < n; i++)
        if (a[i] > 3)
            s += a[i] * 2;
    return s;
}

int main() {
    static int a[3000];
    for (int i = 0; i < 3000; i++)
        a[i] = i * 7919 % 1013 - 400;
    std::printf("%d\n", total(a, 3000));
}
