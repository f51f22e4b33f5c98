// Puts a stored object in the place of the one the compiler has just written.
#pragma once

#include "manifest.h"

#include <string>

namespace perfcc {

// False, and nothing changed, unless the compiler's object is bit for bit the one that the verdict was reached on, and
// the stored object is whole. It takes over the output's mode and time of change, so that a build tool sees the very
// file the compiler made.
bool publish(const std::string &store, const Manifest &manifest, const std::string &output);

} // namespace perfcc
