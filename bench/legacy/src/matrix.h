// Dense matrices, row by row in one block. The loops follow the station's Fortran 77 library line by line.
#ifndef FIELDLAB_MATRIX_H
#define FIELDLAB_MATRIX_H

// c = a * b, all n x n
void mat_multiply(const double* a, const double* b, double* c, int n);

// s = a' * a, a is rows x n, s is n x n
void mat_scatter(const double* a, double* s, int rows, int n);

// b = a', a is rows x columns
void mat_transpose(const double* a, double* b, int rows, int columns);

// y = a * x, a is rows x columns
void mat_apply(const double* a, const double* x, double* y, int rows, int columns);

// Solves l * x = b by forward substitution; l is lower triangular with a non-zero diagonal.
void mat_solve_lower(const double* l, const double* b, double* x, int n);

// Square root of the sum of squares of n values
double mat_norm(const double* a, int n);

#endif
