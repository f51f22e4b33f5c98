// A temporary declared outside the loop is private to each iteration; the bound is of another type than the loop variable.
#include <cstdio>
#include <vector>

static void smooth(const std::vector<double> &in, std::vector<double> &out) {
    double left;
    for (int i = 1; i < in.size(); ++i) {
        left = in[i - 1];
        out[i] = 0.5 * left + 0.5 * in[i];
    }
}

int main() {
    std::vector<double> in(777), out(777);
    for (std::size_t i = 0; i < in.size(); i++)
        in[i] = static_cast<double>(i * i % 101);
    smooth(in, out);
    double checksum = 0.0;
    for (std::size_t i = 0; i < out.size(); i++)
        checksum = checksum * 0.99 + out[i];
    std::printf("%.17g\n", checksum);
}
