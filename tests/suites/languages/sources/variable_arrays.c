/* Parameters, locals and pointers whose types have extents that are computed. */
#include <stdio.h>
#include <stdlib.h>
void param(int n, int m, double a[n][m], double b[n][m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = b[i][j] * 2.0; }
void pointer(size_t n, size_t m, double (*restrict a)[m], const double (*restrict b)[m]) { for (size_t i = 0; i < n; i++) for (size_t j = 0; j < m; j++) a[i][j] += b[i][j] * 2.0; }
void transpose(int n, double a[n][n], double b[static n][n]) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j][i] = b[i][j]; }
void product(int n, int m, int l, double c[restrict n][m], double a[restrict n][l], double b[restrict l][m]) {
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++) c[i][j] += a[i][k] * b[k][j]; }
void cube(int n, int m, int l, float a[n][m + 1][l]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++) a[i][j][k] = a[i][j][k] * 2 + k; }
double local(int n) { double t[n]; for (int i = 0; i < n; i++) t[i] = i * 2.0; double s = 0; for (int i = 0; i < n; i++) s += t[i]; return s; }
double local2(const int n) { double t[n][n + 2]; for (int i = 0; i < n; i++) for (int j = 0; j < n + 2; j++) t[i][j] = i * 2.0 + j; double s = 0; for (int i = 0; i < n; i++) s = s * 0.5 + t[i][i+2]; return s; }
void rows(int n, int m, double a[n][m]) { for (int i = 0; i < n; i++) { double *row = a[i]; for (int j = 0; j < m; j++) row[j] += j; } }
void rows2(int n, int m, double a[n][m]) { for (int i = 0; i < n; i++) { double *row = &a[i][0]; for (int j = 0; j < m; j++) *(row + j) -= j; } }
void rows3(int n, int m, double a[n][m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) *(*(a + i) + j) *= 0.5; }
double heap(int n, int m) { double (*w)[m] = malloc(sizeof(double[n][m])); for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) w[i][j] = i ^ j; double s = w[n-1][m-1] + w[1][2]; free(w); return s; }
void one(int n, int a[n], const int b[n]) { for (int i = 0; i < n; i++) a[i] = b[i] + 1; }
void changed(int n, int m, double a[n][m]) { m = m - 1; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] += 1; }
void shifted(int n, int m, double a[n][m]) { for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) a[i][j] += a[i-1][j]; }
static double A[64 * 64], B[64 * 64], C[64 * 64]; static float F[8*9*10]; static int I[100], J[100];
static double sum(const double *p, int n) { double s = 0; int i; for (i = 0; i < n; i++) s = s * 0.75 + p[i]; return s; }
int main(void) {
  int n = 37, m = 41;
  for (int i = 0; i < 64 * 64; i++) { A[i] = i % 17; B[i] = i % 13; C[i] = i % 7; }
  param(n, m, (void *)A, (void *)B); pointer(n, m, (void *)B, (void *)C); transpose(n, (void *)C, (void *)A); product(20, 30, 10, (void *)A, (void *)B, (void *)C);
  cube(8, 8, 10, (void *)F); rows(n, m, (void *)A); rows2(n, m, (void *)B); rows3(n, m, (void *)C); one(100, I, J); changed(n, m, (void *)A); shifted(n, m, (void *)B);
  printf("%.17g %.17g %.17g %g %g %g %d %g\n", sum(A, 4096), sum(B, 4096), sum(C, 4096), F[333], local(50), local2(30), I[50], heap(20, 30));
  return 0;
}
