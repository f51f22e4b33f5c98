/* C as it was written before 1989 and compiles with warnings to this day: K&R definitions, implicit int and functions, conversions. */
#include <stdio.h>
static a[100];
static double half[100];
long checksum();
int total(p, n)
  int p[];
  register n;
{
  register i;
  int s = 0;
  for (i = 0; i < n; i++) s += p[i];
  return s;
}
fill(p, n) double *p; {
  int i;
  for (i = 0; i < n; i++) p[i] = i * 2;
}
static sloppy(word) long word; { char *q = word; return q != 0; }
main() {
  int i;
  for (i = 0; i < 100; i++) a[i] = i * i;
  fill(half, 100);
  printf("%d %ld %d\n", total(a, 100), checksum(half), sloppy(3L) + later(4));
  return 0;
}
long checksum(p) const double *p; {
  long s = 0;
  int i;
  for (i = 0; i < 100; i++) s += (long)p[i] * i;
  return s;
}
int later(n) { return n + 1; }
