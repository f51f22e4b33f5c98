#include "diffusion.h"

#include "error.h"
#include "monitor.h"

void heat_step(const std::vector<double>& old, std::vector<double>& now, int rows, int columns, double rate)
{
    for (int i = 1; i < rows - 1; ++i)
        for (int j = 1; j < columns - 1; ++j)
            now[i * columns + j] = old[i * columns + j]
                                   + rate * (old[(i - 1) * columns + j] + old[(i + 1) * columns + j] + old[i * columns + j - 1]
                                             + old[i * columns + j + 1] - 4.0 * old[i * columns + j]);
}

void heat_run(std::vector<double>& field, int rows, int columns, double rate, int steps)
{
    if (rate > 0.25)
        warn("heat: the scheme is unstable at this rate");
    std::vector<double> other(field);
    for (int step = 0; step < steps && !monitor_stopped(); ++step) {
        heat_step(field, other, rows, columns, rate);
        field.swap(other);
    }
}

void rod_step(std::vector<double>& rod, double rate)
{
    const int n = static_cast<int>(rod.size());
    std::vector<double> upper(n);
    const double diagonal = 1.0 + 2.0 * rate;
    upper[0] = -rate / diagonal;
    rod[0] /= diagonal;
    for (int i = 1; i < n; ++i) {
        double pivot = diagonal + rate * upper[i - 1];
        upper[i] = -rate / pivot;
        rod[i] = (rod[i] + rate * rod[i - 1]) / pivot;
    }
    for (int i = n - 2; i >= 0; --i)
        rod[i] -= upper[i] * rod[i + 1];
}
