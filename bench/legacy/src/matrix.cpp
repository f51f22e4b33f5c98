#include "matrix.h"

#include <cmath>

void mat_multiply(const double* a, const double* b, double* c, int n)
{
    int i, j, k;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            c[i * n + j] = 0.0;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            for (k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

void mat_scatter(const double* a, double* s, int rows, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s[i * n + j] = 0.0;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int r = 0; r < rows; r++)
                s[i * n + j] += a[r * n + i] * a[r * n + j];
}

void mat_transpose(const double* a, double* b, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            b[j * rows + i] = a[i * columns + j];
}

void mat_apply(const double* a, const double* x, double* y, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        double sum = 0.0;
        for (int j = 0; j < columns; j++)
            sum += a[i * columns + j] * x[j];
        y[i] = sum;
    }
}

void mat_solve_lower(const double* l, const double* b, double* x, int n)
{
    for (int i = 0; i < n; i++) {
        double sum = b[i];
        for (int j = 0; j < i; j++)
            sum -= l[i * n + j] * x[j];
        x[i] = sum / l[i * n + i];
    }
}

double mat_norm(const double* a, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * a[i];
    return std::sqrt(sum);
}
