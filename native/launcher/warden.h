// Runs the Python worker under a warden: a process that ends it, and all it has started, when its time is up or the
// launcher is gone.
#pragma once

#include "process.h"

#include <string>

namespace perfcc {

struct Worker {
  std::string python;  // path of the interpreter
  std::string request; // for its standard input
  int log = -1;        // for its standard output and error; -1: nowhere
  long limit = 1800;   // seconds
};

enum class WorkerEnd { Done, Failed, TimedOut, Interrupted };

// `interrupted` is the signal that told this process to stop, after which everything has been ended.
WorkerEnd run_worker(const Signals &signals, const Worker &worker, int &interrupted);

// The interpreter to use: PERFCC_PYTHON, the one beside this executable, or the first on PATH; empty when there is
// none.
std::string find_python();

// Becomes Python, running perfcc with those arguments; returns only when that fails.
void execute_perfcc(const std::string &python, int argc, char **argv);

} // namespace perfcc
