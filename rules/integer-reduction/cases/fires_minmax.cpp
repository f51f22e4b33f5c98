// Minimum, maximum and a bit mask keep their own variables.
#include <cstdio>
#include <vector>

static void range(const std::vector<int> &v, int &lowest, int &highest, unsigned &bits) {
    int low = v[0], high = v[0];
    unsigned seen = 0;
    for (std::size_t i = 0; i < v.size(); i++) {
        if (v[i] < low)
            low = v[i];
        if (v[i] > high)
            high = v[i];
        seen |= 1u << (v[i] & 31);
    }
    lowest = low, highest = high, bits = seen;
}

int main() {
    std::vector<int> v(2000);
    for (int i = 0; i < 2000; i++)
        v[i] = i * 7919 % 10007 - 5000;
    int low, high;
    unsigned bits;
    range(v, low, high, bits);
    std::printf("%d %d %u\n", low, high, bits);
}
