// Sparse matrices in compressed rows.
#ifndef FIELDLAB_SPARSE_H
#define FIELDLAB_SPARSE_H

#include <vector>

struct SparseMatrix {
    int rows;
    std::vector<int> start;  // rows + 1 positions
    std::vector<int> column; // one entry a non-zero element
    std::vector<double> value;
};

// From the elements' columns, row after row, with `lengths` elements a row.
SparseMatrix sparse_from_rows(const std::vector<int>& lengths, const std::vector<int>& columns, const std::vector<double>& values);

// y = a * x
void sparse_apply(const SparseMatrix& a, const std::vector<double>& x, std::vector<double>& y);

// Relaxes x towards the solution of a * x = b by damped Richardson sweeps.
void sparse_relax(const SparseMatrix& a, const std::vector<double>& b, std::vector<double>& x, int sweeps, double damping);

// One sweep of Gauss and Seidel's method: each row uses the rows before it.
void sparse_gauss_seidel(const SparseMatrix& a, const std::vector<double>& b, std::vector<double>& x);

#endif
