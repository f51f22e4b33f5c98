#include "series.h"

void running_totals(const std::vector<double>& x, std::vector<double>& total)
{
    const int n = static_cast<int>(x.size());
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j <= i; ++j)
            sum += x[j];
        total[i] = sum;
    }
}

void autocorrelation(const std::vector<double>& x, std::vector<double>& sums, int lags)
{
    const int n = static_cast<int>(x.size());
    for (int lag = 0; lag < lags; ++lag) {
        double sum = 0.0;
        for (int i = 0; i < n - lag; ++i)
            sum += x[i] * x[i + lag];
        sums[lag] = sum;
    }
}

void moving_mean(const std::vector<double>& x, std::vector<double>& mean, int half)
{
    const int n = static_cast<int>(x.size());
    const double weight = 1.0 / (2 * half + 1);
    for (int i = half; i < n - half; ++i) {
        double sum = 0.0;
        for (int j = i - half; j <= i + half; ++j)
            sum += x[j];
        mean[i] = sum * weight;
    }
}

void low_pass(const std::vector<double>& x, std::vector<double>& y, double alpha)
{
    const int n = static_cast<int>(x.size());
    y[0] = x[0];
    for (int i = 1; i < n; ++i)
        y[i] = alpha * x[i] + (1.0 - alpha) * y[i - 1];
}

void correct(std::vector<double>& x, double (*correction)(double))
{
    const int n = static_cast<int>(x.size());
    for (int i = 0; i < n; ++i)
        x[i] = correction(x[i]);
}

void add_neighbours(const double* in, double* out, int n)
{
    for (int i = 0; i < n; ++i)
        out[i] = in[i] + in[i + 1];
}

double mean_power(const std::vector<double>& x)
{
    const int n = static_cast<int>(x.size());
    double power = 0.0;
    for (int i = 0; i < n; ++i)
        power += x[i] * x[i];
    return power / n;
}

void find_peaks(const std::vector<double>& x, double level, std::vector<int>& peaks)
{
    const int n = static_cast<int>(x.size());
    for (int i = 1; i < n - 1; ++i)
        if (x[i] > level && x[i] > x[i - 1] && x[i] >= x[i + 1])
            peaks.push_back(i);
}
