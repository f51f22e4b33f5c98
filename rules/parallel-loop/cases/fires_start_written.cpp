// The loop starts at a scalar that each iteration then writes: its private copy must not decide where the loop starts.
#include <cstdio>

static void walk(float *__restrict out, const int *__restrict in, int k, int n) {
    for (int i = k; i < n; i++) {
        k = in[i];
        out[i] = k * 1.5f;
    }
}

int main() {
    static float out[1000];
    static int in[1000];
    for (int i = 0; i < 1000; i++)
        in[i] = i * i % 101;
    walk(out, in, 7, 990);
    double checksum = 0.0;
    for (int i = 0; i < 1000; i++)
        checksum = checksum * 0.99 + out[i];
    std::printf("%.17g\n", checksum);
}
