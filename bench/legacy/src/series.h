// Time series of one sensor.
#ifndef FIELDLAB_SERIES_H
#define FIELDLAB_SERIES_H

#include <vector>

// Sum of all samples up to and including each one. Every total is added up afresh, so that an error can't creep along.
void running_totals(const std::vector<double>& x, std::vector<double>& total);

// Autocorrelation sums for lags 0 to lags - 1.
void autocorrelation(const std::vector<double>& x, std::vector<double>& sums, int lags);

// Centred mean over 2 * half + 1 samples, ends excepted.
void moving_mean(const std::vector<double>& x, std::vector<double>& mean, int half);

// First-order recursive low-pass filter.
void low_pass(const std::vector<double>& x, std::vector<double>& y, double alpha);

// Applies a correction, given as a function, to each sample.
void correct(std::vector<double>& x, double (*correction)(double));

// out[i] = in[i] + in[i + 1] for i < n; out may be in itself.
void add_neighbours(const double* in, double* out, int n);

// Mean power. The order of the additions is part of the archive's definition.
double mean_power(const std::vector<double>& x);

// Adds to `peaks` the positions of local maxima above `level`.
void find_peaks(const std::vector<double>& x, double level, std::vector<int>& peaks);

#endif
