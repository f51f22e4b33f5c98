// What is passed to the linker in a command that compiles and links.
#pragma once

#include <string_view>

namespace perfcc {

// The words, parted by commas as after -Wl, are all known to make the linker write nothing but its output, under the
// name that the driver gives it.
bool writes_program_alone(std::string_view words);

} // namespace perfcc
