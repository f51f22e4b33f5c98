// The user's own command, and what it read.
#pragma once

#include "argv.h"
#include "compiler.h"
#include "process.h"

#include <string>
#include <vector>

namespace perfcc {

// The files that the compiler read, as it names them, without the sources; sorted, each once.
struct FilesRead {
  std::vector<std::string> names;
  bool known = false;
};

// Runs the compiler with its untouched argv. Where that fails or is interrupted, this process ends as the compiler did;
// from here on it ends with success, whatever becomes of it.
FilesRead run_original(const Signals &signals, const Compiler &compiler, char *const *argv, const Command &command,
                       const std::string &cwd, const std::string &store);

// Has the worker answer the request, and counts how that ended. The signal that told this process to stop, or 0.
int ask_worker(const Signals &signals, const std::string &python, std::string request, const std::string &store);

// Has a worker bring the store below its limit, if need be. The signal that told this process to stop, or 0.
int tidy(const Signals &signals, const std::string &cwd, const std::string &store);

// An output as the compiler left it, for the worker: [size, time of change, inode].
std::string output_state(const struct stat &status);

// Ends this process as that signal would have.
[[noreturn]] void end_interrupted(int signal);

} // namespace perfcc
