// Where a path leads under the overlay.
#pragma once

#include "control.h"

#include <climits>

namespace perfcc::overlay {

struct Place {
  bool through = true; // the overlay has nothing to do with it
  char file[PATH_MAX]; // else: where what is written to it goes
  char *base = nullptr;
};

// Lies in the scratch folder or is no file of anybody's: the overlay leaves it alone.
bool is_outside(const char *path);
// Looks the path up relative to the folder `at` (AT_FDCWD: the working directory). False with errno set when its folder
// can't be found.
bool find_place(int at, const char *path, Place &place);
// Something was written there by this compile.
bool written(int at, const char *path, Place &place);
// Makes the folder that the place lies in and notes that it is written to.
bool prepare(const Place &place, const char *path);
int refuse(const char *operation, const char *path);

} // namespace perfcc::overlay
