/* ISO C of 1990, every declaration at the top of its block. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum colour { RED, GREEN = 5, BLUE };
typedef enum { OFF, ON = 3 } power;
typedef unsigned char byte;
typedef double line[16];

static enum colour paint[64];
static power lamps[64];
static byte bytes[256];
static line lines[12];
static short narrow[64];
static const int four = 4;

static double mean(double x, double y) { return (x + y) / 2; }

static void colours(enum colour *c, power *p, int n)
{
  int i;
  for (i = 0; i < n; i++) {
    int left = i % 3;
    c[i] = left == 1 ? GREEN : RED;
    p[i] = p[i] == OFF ? ON : OFF;
  }
}

static void mix(byte *to, const byte *from, unsigned n)
{
  unsigned i;
  for (i = 0; i < n; i++)
    to[i] = (byte)(from[i] * 3 + 'a');
}

static int rows(line *at, int n)
{
  int i, j;
  for (i = 0; i < n; ++i)
    for (j = 15; j > 0; j -= 2)
      at[i][j] = mean(at[i][j], i) + sqrt((double)(i - j));
  return j;
}

static long keywords(int *class, const short *new, int this)
{
  long template = 0;
  int private;
  for (private = 0; private < this; private++)
    class[private] = new[private] + four;
  for (private = 0; private < this; private++)
    template += class[private];
  return template;
}

int main(void)
{
  static int class[64];
  double sum = 0;
  int i, left;
  for (i = 0; i < 64; i++) {
    narrow[i] = (short)(i * 7);
    bytes[i] = (byte)i;
  }
  colours(paint, lamps, 64);
  mix(bytes + 64, bytes, 64);
  errno = 0;
  left = rows(lines, 12);
  for (i = 0; i < 12; i++)
    if (lines[i][1] == lines[i][1])
      sum = sum * 0.5 + lines[i][1];
  printf("%d %d %d %d %.17g %d %ld\n", paint[1], lamps[2], bytes[100], left, sum, errno == EDOM, keywords(class, narrow, 64));
  return 0;
}
