#include "smooth.h"

#include <cstring>

unsigned long digest(const std::vector<double> &values) {
  unsigned long hash = 14695981039346656037ul;
  for (std::size_t i = 0; i < values.size(); ++i) {
    unsigned long bits;
    std::memcpy(&bits, &values[i], sizeof bits);
    hash = (hash ^ bits) * 1099511628211ul;
  }
  return hash;
}

int words(const char *text) {
  int count = 0;
  while (*text) {
    if (*text == ' ')
      ++count;
    ++text;
  }
  return count;
}
