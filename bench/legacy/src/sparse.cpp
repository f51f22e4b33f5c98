#include "sparse.h"

#include "error.h"

SparseMatrix sparse_from_rows(const std::vector<int>& lengths, const std::vector<int>& columns, const std::vector<double>& values)
{
    SparseMatrix a;
    a.rows = static_cast<int>(lengths.size());
    a.start.push_back(0);
    for (int i = 0; i < a.rows; ++i)
        a.start.push_back(a.start.back() + lengths[i]);
    if (a.start.back() != static_cast<int>(columns.size()) || columns.size() != values.size())
        throw Error("sparse matrix: row lengths and elements disagree");
    for (size_t e = 0; e < columns.size(); ++e)
        if (columns[e] < 0 || columns[e] >= a.rows)
            throw Error("sparse matrix: column out of range at element " + to_text(static_cast<long>(e)));
    a.column = columns;
    a.value = values;
    return a;
}

void sparse_apply(const SparseMatrix& a, const std::vector<double>& x, std::vector<double>& y)
{
    const std::vector<int>& start = a.start;
    const std::vector<int>& column = a.column;
    const std::vector<double>& value = a.value;
    const int rows = a.rows;
    for (int i = 0; i < rows; ++i) {
        double sum = 0.0;
        for (int e = start[i]; e < start[i + 1]; ++e)
            sum += value[e] * x[column[e]];
        y[i] = sum;
    }
}

void sparse_relax(const SparseMatrix& a, const std::vector<double>& b, std::vector<double>& x, int sweeps, double damping)
{
    std::vector<double> y(x.size());
    const int rows = a.rows;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        sparse_apply(a, x, y);
        for (int i = 0; i < rows; ++i)
            x[i] += damping * (b[i] - y[i]);
    }
}

void sparse_gauss_seidel(const SparseMatrix& a, const std::vector<double>& b, std::vector<double>& x)
{
    const int* start = &a.start[0];
    const int* column = &a.column[0];
    const double* value = &a.value[0];
    const int rows = a.rows;
    for (int i = 0; i < rows; ++i) {
        double sum = b[i];
        double diagonal = 1.0;
        for (int e = start[i]; e < start[i + 1]; ++e) {
            if (column[e] == i)
                diagonal = value[e];
            else
                sum -= value[e] * x[column[e]];
        }
        x[i] = sum / diagonal;
    }
}
