// The last resort: a fault of the launcher's own still ends in the compile the user asked for.
#pragma once

namespace perfcc {

// From now on a fatal signal becomes the compiler, with the untouched command line. The pointers must live on.
// A file that may not grow any more is an error like others, not the end of this process.
void rescue_by(const char *path, char *const *argv);
// The compiler has run: a fatal signal now ends the launcher with the compiler's exit status.
void rescue_with(int status);
// Before executing anything: gives these signals back what they did before.
void rescue_ends();

} // namespace perfcc
