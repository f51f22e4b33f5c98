#ifndef SMOOTH_H
#define SMOOTH_H

#include <vector>

void smooth(const std::vector<double> &in, std::vector<double> &out, int rows, int columns);
unsigned long digest(const std::vector<double> &values);
int words(const char *text);

#endif
