#include "grid.h"

#include <cmath>

#include "error.h"
#include "monitor.h"

void interpolate(const Readings& readings, double* grid, int rows, int columns, double cell)
{
    const std::vector<double>& sx = readings.x;
    const std::vector<double>& sy = readings.y;
    const std::vector<double>& sv = readings.value;
    const int n = static_cast<int>(sx.size());
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
            const double x = j * cell, y = i * cell;
            double weights = 0.0, sum = 0.0;
            for (int s = 0; s < n; ++s) {
                double dx = sx[s] - x;
                double dy = sy[s] - y;
                double r2 = dx * dx + dy * dy + 1e-6;
                double weight = 1.0 / (r2 * std::sqrt(r2));
                weights += weight;
                sum += weight * sv[s];
            }
            grid[i * columns + j] = sum / weights;
        }
    }
}

void column_means(const double* grid, double* mean, int rows, int columns)
{
    for (int j = 0; j < columns; ++j)
        mean[j] = 0.0;
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i)
            mean[j] += grid[i * columns + j];
    for (int j = 0; j < columns; ++j)
        mean[j] /= rows;
}

void column_spreads(const double* grid, const double* mean, double* spread, int rows, int columns)
{
    for (int j = 0; j < columns; ++j)
        spread[j] = 0.0;
    for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < rows; ++i) {
            double off = grid[i * columns + j] - mean[j];
            spread[j] += off * off;
        }
    }
    for (int j = 0; j < columns; ++j)
        spread[j] = std::sqrt(spread[j] / rows);
}

void standardise(double* grid, const double* mean, const double* spread, int rows, int columns)
{
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i)
            grid[i * columns + j] = (grid[i * columns + j] - mean[j]) / spread[j];
}

void pick_cells(const double* grid, const int* cells, double* picked, int count)
{
    for (int i = 0; i < count; ++i)
        picked[i] = grid[cells[i]];
}

void check_limits(const std::vector<double>& grid, double lowest, double highest)
{
    const int n = static_cast<int>(grid.size());
    for (int i = 0; i < n; ++i)
        if (!(grid[i] >= lowest && grid[i] <= highest))
            throw Error("grid: value out of limits in cell " + to_text(i));
}

void count_missing(const double* grid, int* missing, int rows, int columns, double marker)
{
    for (int i = 0; i < rows; ++i) {
        int count = 0;
        for (int j = 0; j < columns; ++j)
            if (grid[i * columns + j] == marker)
                ++count;
        missing[i] = count;
        monitor_row = i;
    }
}
