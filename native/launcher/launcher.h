#pragma once

namespace perfcc {

// Does what the command line says; returns the exit status where it doesn't become the compiler itself.
int launch(int argc, char **argv);

} // namespace perfcc
