/* C99 and later: booleans, restrict, designated initialisers, loops with declarations, _Generic and friends beside the kernels. */
#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert(sizeof(int) == 4, "");
#define ROOT(x) _Generic((x), float: sqrtf, default: sqrt)(x)
struct point { double x, y; int tag : 3; };

static void booleans(bool *restrict a, const int *restrict b, int n) { for (int i = 0; i < n; i++) a[i] = b[i] > 3; }
static int set(const _Bool *a, size_t n) { int s = 0; for (size_t i = 0; i < n; i++) s += a[i]; return s; }
static bool any(const int *a, int n) { bool found = false; for (int i = 0; i < n; i++) found |= a[i] > 100; return found; }
static void sized(double a[static 10], const double b[const 10], int n) { for (int i = 0; i < n; i++) a[i] += b[i]; }
static void bytes(uint8_t *restrict a, const uint8_t *restrict b, size_t n) { for (size_t i = 0; i < n; i++) a[i] = (uint8_t)(b[i] + 1); }
static void designated(int *a, int n) { for (int i = 0; i < n; i++) { int t[4] = {[1] = 5, [3] = 7}; a[i] = t[i & 3]; } }
static void from_void(void *p, int n) { double *d = p; for (int i = 0; i < n; i++) d[i] = 3; }
static void widths(int64_t *a, ptrdiff_t n) { for (ptrdiff_t i = n - 1; i >= 0; --i) a[i] = (int64_t)1 << (i % 40); }
inline int twice(int x) { return 2 * x; }
extern inline int twice(int x);
static void called(int *a, int n) { for (int i = 0; i < n; i++) a[i] = twice(a[i]) + 1; }
static void left_alone(double complex *z, _Atomic int *at, double *d, struct point *p, int n) {
  for (int i = 0; i < n; i++) z[i] = z[i] * I;
  for (int i = 0; i < n; i++) *at += i;
  for (int i = 0; i < n; i++) d[i] = ROOT(d[i]);
  for (int i = 0; i < n; i++) p[i] = (struct point){.x = i, .tag = 1};
  for (int i = 0;; i++) if (i == n) break;
}
int main(void) {
  static int a[500]; static bool b[500]; static double d[64], e[64]; static uint8_t u[64], v[64]; static int64_t w[64];
  static double complex z[8]; static struct point p[8]; static _Atomic int at;
  double *heap = malloc(40 * sizeof *heap);
  for (int i = 0; i < 500; i++) a[i] = i % 110;
  booleans(b, a, 500);
  for (int i = 0; i < 64; i++) { d[i] = i; e[i] = 2 * i; u[i] = i; }
  sized(d, e, 64); bytes(v, u, 64); from_void(heap, 40); widths(w, 64); z[1] = 2;
  int wanted = any(a, 500);
  left_alone(z, &at, e, p, 8);
  designated(a, 100); called(a, 300);
  printf("%d %d %g %d %d %d %g %" PRId64 " %g %d %g %g\n", set(b, 500), wanted, d[63], v[63], a[7], a[250], heap[39], w[45], cimag(z[1]), at, e[4], p[3].x);
  free(heap);
  return 0;
}
