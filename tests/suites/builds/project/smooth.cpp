#include "smooth.h"

#include <cmath>

void smooth(const std::vector<double> &in, std::vector<double> &out, int rows, int columns) {
  for (int i = 1; i < rows - 1; ++i) {
    for (int j = 1; j < columns - 1; ++j) {
      double sum = in[i * columns + j];
      sum += in[(i - 1) * columns + j] + in[(i + 1) * columns + j];
      sum += in[i * columns + j - 1] + in[i * columns + j + 1];
      out[i * columns + j] = std::sqrt(sum * sum + 1.0);
    }
  }
}
