// Puts a stored object in the place of the one the compiler has just written.
#pragma once

#include "blake2b.h"

#include <string>
#include <string_view>
#include <sys/stat.h>

namespace perfcc {

// False, and nothing changed, unless the stored object is whole. It takes over the output's mode and time of change, so
// that a build tool sees the very file the compiler made.
bool publish(const std::string &store, const Digest &object, const std::string &output);

// Replaces the output by a file with these bytes, and with the mode and times of `status`: whole, or not at all.
bool put_in_place(const std::string &output, const struct stat &status, std::string_view bytes);

} // namespace perfcc
