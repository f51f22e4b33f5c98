// Runs both sides on private copies of each input and compares every byte of both.
#pragma once

#include "library.hpp"

#include <cstdio>

namespace perfcc {

void compare_all(const Job &job, const Library &original, const Library &candidate, std::FILE *report);

// Runs one side alone on each input.
void run_all(const Job &job, const Library &library, std::FILE *report);

// Writes the first difference between two instances' blocks, if there is one, as JSON members. Returns whether there
// was.
class Instance;
bool report_difference(const Job &job, const Input &input, const Instance &original, const Instance &candidate,
                       std::FILE *report);

} // namespace perfcc
