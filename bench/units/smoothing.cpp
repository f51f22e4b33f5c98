// One loop that has to be parsed before it can be refused: each element needs the one before it.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

void smooth(double *a, int n) {
  for (int i = 1; i < n; ++i)
    a[i] = 0.5 * (a[i] + a[i - 1]);
}
