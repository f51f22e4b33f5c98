// Units in which the prefilter saw no kernel: what the store keeps of them.
#pragma once

#include "blake2b.h"
#include "original.h"
#include "prefilter.h"

#include <string>

namespace perfcc {

// What the project's own headers hold: those that are not under the directories of compilers, distributions and
// -isystem.
Loops loops_in_headers(const FilesRead &read, const Command &command, const std::string &cwd, bool cplusplus);

// None of the files that were read has changed since then (nanoseconds since the epoch).
bool older(const FilesRead &read, const std::string &cwd, long long started);

struct Unexplained {
  const std::string &store;
  const std::string &cwd;
  const Digest &key;
  const Digest &text; // hash of the source
  const FilesRead &read;
  long long started;         // when the compile began, nanoseconds since the epoch
  const std::string &output; // object or program, absolute
  std::string member;        // the source, absolute, where it was compiled straight into a program
};

// Keeps the verdict "nothing to do", unless a file that was read has changed since the compile began. Then, where there
// are loops, notes what `--explain` needs to look at the unit when somebody asks, in place of an outcome:
// {"request": ..., "text": hash of the source, "recorded": nanoseconds}. Without loops there is nothing to be said, and
// an outcome of before is removed. True when the store has grown so much that somebody should look at its size.
bool leave_alone(const Unexplained &unit, Loops loops, const std::string &request);

} // namespace perfcc
