/* GNU C around kernels: statement expressions, __typeof__, __auto_type, case ranges, labels as values, gnu_inline, attributes. */
#include <stdio.h>

#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
extern inline __attribute__((__gnu_inline__, __always_inline__)) int plus(int x) { return x + 1; }
static int buffer[300] __attribute__((aligned(64)));
static int zero[0];

static void typed(int *a, int n) { for (int i = 0; i < n; i++) { __typeof__(a[0]) t = a[i]; __auto_type u = t + 1; a[i] = u * 2; } }
static void largest(int *a, int n) { for (int i = 0; i < n; i++) a[i] = MAX(a[i], 7); }
static __attribute__((noinline)) void inlined(int *restrict a, const int *restrict b, int n) { for (int i = 0; i < n; i++) a[i] = plus(b[i]); }
static int jump(int k) { void *to[] = {&&one, &&two}; goto *to[k & 1]; one: return 1; two: return 2; }
static int range(int k) { switch (k) { case 0 ... 9: return 1; default: return 2; } }
int main(void) {
  for (int i = 0; i < 300; i++) buffer[i] = i % 13;
  typed(buffer, 100); largest(buffer + 50, 100); inlined(buffer + 200, buffer, 100);
  long sum = 0;
  for (int i = 0; i < 300; i++) sum += buffer[i] * (i ?: 5);
  printf("%ld %d %d %zu\n", sum, jump(1), range(3), sizeof zero);
  return 0;
}
