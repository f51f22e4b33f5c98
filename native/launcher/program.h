// A command with several sources, or one that compiles and links.
#pragma once

#include "argv.h"
#include "compiler.h"

#include <string>

namespace perfcc {

// Runs the command, eligible or held back, which is not single(), and replaces what it made where the store or the
// worker has something better: each object, or the program, linked again with the objects of the sources that were
// rewritten. Becomes the compiler where nothing is to be done after it.
void build_program(const Command &command, const Compiler &compiler, char *const *argv, const std::string &cwd);

} // namespace perfcc
