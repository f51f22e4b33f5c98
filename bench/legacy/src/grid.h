// Regular grids: interpolation of scattered readings, statistics of the columns.
#ifndef FIELDLAB_GRID_H
#define FIELDLAB_GRID_H

#include <vector>

// Readings at scattered places.
struct Readings {
    std::vector<double> x, y, value;
};

// Inverse-distance interpolation (third power) onto rows x columns cells of width `cell`.
void interpolate(const Readings& readings, double* grid, int rows, int columns, double cell);

// Mean and spread of each column of a rows x columns grid.
void column_means(const double* grid, double* mean, int rows, int columns);
void column_spreads(const double* grid, const double* mean, double* spread, int rows, int columns);

// Brings each column to mean 0 and spread 1.
void standardise(double* grid, const double* mean, const double* spread, int rows, int columns);

// Values of `count` cells given by their numbers, in that order.
void pick_cells(const double* grid, const int* cells, double* picked, int count);

// Throws Error at the first value outside [lowest, highest].
void check_limits(const std::vector<double>& grid, double lowest, double highest);

// Number of cells whose value is missing, row by row; the monitor is told of each row.
void count_missing(const double* grid, int* missing, int rows, int columns, double marker);

#endif
