#include "image.h"

#include <algorithm>
#include <cmath>

void to_plane(const std::vector<unsigned char>& pixels, std::vector<float>& plane)
{
    const int n = static_cast<int>(pixels.size());
    plane.resize(pixels.size());
    for (int i = 0; i < n; ++i)
        plane[i] = pixels[i] / 255.0f;
}

std::vector<float> binomial_mask(int radius)
{
    const int size = 2 * radius + 1;
    std::vector<double> row(size, 0.0);
    row[0] = 1.0;
    for (int step = 1; step < size; ++step)
        for (int i = step; i > 0; --i)
            row[i] = (row[i] + row[i - 1]) / 2.0;
    for (int step = 1; step < size; ++step)
        row[0] /= 2.0;

    std::vector<float> mask(size * size);
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x)
            mask[y * size + x] = static_cast<float>(row[y] * row[x]);
    return mask;
}

void convolve(const std::vector<float>& in, int width, int height, const std::vector<float>& mask, int radius,
              std::vector<float>& out)
{
    const int size = 2 * radius + 1;
    std::copy(in.begin(), in.end(), out.begin());
    for (int y = radius; y < height - radius; ++y) {
        for (int x = radius; x < width - radius; ++x) {
            float sum = 0.0f;
            for (int dy = 0; dy < size; ++dy)
                for (int dx = 0; dx < size; ++dx)
                    sum += mask[dy * size + dx] * in[(y + dy - radius) * width + x + dx - radius];
            out[y * width + x] = sum;
        }
    }
}

void smooth_columns(const float* in, float* out, int width, int height)
{
    for (int x = 0; x < width; ++x)
        for (int y = 1; y < height - 1; ++y)
            out[y * width + x] = 0.25f * in[(y - 1) * width + x] + 0.5f * in[y * width + x] + 0.25f * in[(y + 1) * width + x];
}

void gradient(const std::vector<float>& plane, int width, int height, std::vector<float>& slope)
{
    for (int y = 1; y < height - 1; ++y) {
        for (int x = 1; x < width - 1; ++x) {
            float across = plane[y * width + x + 1] - plane[y * width + x - 1];
            float down = plane[(y + 1) * width + x] - plane[(y - 1) * width + x];
            slope[y * width + x] = 0.5f * std::sqrt(across * across + down * down);
        }
    }
}

void remap_levels(const unsigned short* table, const unsigned char* pixels, unsigned short* out, int n)
{
    for (int i = 0; i < n; ++i)
        out[i] = table[pixels[i]];
}

void histogram(const std::vector<unsigned char>& pixels, std::vector<int>& bins)
{
    bins.assign(256, 0);
    const int n = static_cast<int>(pixels.size());
    for (int i = 0; i < n; ++i)
        bins[pixels[i]]++;
}

void count_above(const std::vector<int>& levels, const std::vector<int>& thresholds, std::vector<int>& counts)
{
    const int n = static_cast<int>(levels.size());
    const int m = static_cast<int>(thresholds.size());
    for (int t = 0; t < m; ++t) {
        const int limit = thresholds[t];
        int count = 0;
        for (int i = 0; i < n; ++i)
            if (levels[i] > limit)
                ++count;
        counts[t] = count;
    }
}

Extremes extremes(const std::vector<int>& levels)
{
    const int n = static_cast<int>(levels.size());
    int lowest = levels[0];
    int highest = levels[0];
    long sum = 0;
    for (int i = 0; i < n; ++i) {
        if (levels[i] < lowest)
            lowest = levels[i];
        if (levels[i] > highest)
            highest = levels[i];
        sum += levels[i];
    }
    Extremes found;
    found.lowest = lowest;
    found.highest = highest;
    found.sum = sum;
    return found;
}

int first_saturated(const std::vector<int>& levels, int limit, int length)
{
    const int n = static_cast<int>(levels.size());
    int run = 0;
    for (int i = 0; i < n; ++i) {
        run = levels[i] >= limit ? run + 1 : 0;
        if (run == length)
            return i - length + 1;
    }
    return -1;
}

void median3(const std::vector<unsigned char>& in, int width, int height, std::vector<unsigned char>& out)
{
    out = in;
    for (int y = 1; y < height - 1; ++y) {
        for (int x = 1; x < width - 1; ++x) {
            unsigned char around[9];
            int count = 0;
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                    around[count++] = in[(y + dy) * width + x + dx];
            std::nth_element(around, around + 4, around + 9);
            out[y * width + x] = around[4];
        }
    }
}
