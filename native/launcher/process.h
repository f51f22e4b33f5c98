// The compiler as a child: its signals, and how it ended.
#pragma once

#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace perfcc {

using Environment = std::vector<std::pair<const char *, std::string>>;

// Holds back SIGINT, SIGTERM, SIGHUP and SIGCHLD in this process, so that it can wait for them. Children get the mask
// as it was.
class Signals {
public:
  Signals();
  // In a child, before it executes anything.
  void restore() const;
  // Waits for a held signal until the deadline (CLOCK_MONOTONIC nanoseconds; 0: none); 0 when it passed.
  int wait(long long deadline) const;

private:
  sigset_t held_;
  sigset_t before_;
  struct sigaction child_before_;
};

long long monotonic_nanoseconds();

// Becomes the program; returns only when that fails.
void execute(const std::string &path, char *const *argv);

struct End {
  int status = 0;      // as of waitpid
  int interrupted = 0; // the signal that told this process to stop, or 0
  bool ok() const { return status == 0 && interrupted == 0; }
};

// Runs the program with those variables set as well and passes on the signals that ask this process to stop. A status
// of 127 << 8 stands for a child that could not be started. A child with `stdio` as its standard input, output and
// error is a process group of its own, and none of it outlives an interruption.
End run_child(const Signals &signals, const std::string &path, char *const *argv, const Environment &environment,
              int stdio = -1);

// Ends this process the way the child ended.
[[noreturn]] void end_like(const End &end);

} // namespace perfcc
