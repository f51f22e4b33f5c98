// Operations on grey images and on the float planes made of them; width is the length of a row.
#ifndef FIELDLAB_IMAGE_H
#define FIELDLAB_IMAGE_H

#include <vector>

// Pixels to reflectances in [0, 1].
void to_plane(const std::vector<unsigned char>& pixels, std::vector<float>& plane);

// A square mask of 2 * radius + 1 rows with binomial weights that add up to about 1.
std::vector<float> binomial_mask(int radius);

// Weighted mean around each pixel that is at least radius away from the border; the others are copied.
void convolve(const std::vector<float>& in, int width, int height, const std::vector<float>& mask, int radius,
              std::vector<float>& out);

// Three-point smoothing down the columns, first and last row excepted.
void smooth_columns(const float* in, float* out, int width, int height);

// Size of the gradient by central differences, inner pixels only.
void gradient(const std::vector<float>& plane, int width, int height, std::vector<float>& slope);

// Replaces each grey level by its entry in the table of 256 levels.
void remap_levels(const unsigned short* table, const unsigned char* pixels, unsigned short* out, int n);

void histogram(const std::vector<unsigned char>& pixels, std::vector<int>& bins);

// How many pixels are brighter than each of the thresholds (the hypsometric curve).
void count_above(const std::vector<int>& levels, const std::vector<int>& thresholds, std::vector<int>& counts);

struct Extremes {
    int lowest;
    int highest;
    long sum;
};

Extremes extremes(const std::vector<int>& levels);

// First pixel of a run of `length` saturated ones, or -1.
int first_saturated(const std::vector<int>& levels, int limit, int length);

// A median over 3 x 3 pixels takes out single hot pixels.
void median3(const std::vector<unsigned char>& in, int width, int height, std::vector<unsigned char>& out);

#endif
