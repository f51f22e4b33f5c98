// What the launcher leaves in the store for `--stats` and `--explain`. Nothing here can fail a build.
#pragma once

#include "argv.h"

#include <string>
#include <string_view>

namespace perfcc {

// One line, the counter's name, to STORE/counters/log. A long log is put aside as log-TIME; Python adds them up.
void count(const std::string &store, std::string_view counter);

// What was linked into an executable or library: STORE/links/<hash of its path>, JSON {output, cwd, inputs}. Written
// only when it is new or has changed.
void record_link(const std::string &store, const Command &command, const std::string &cwd);

// Notes that a file of that size is about to be written, as perfcc/store/size.py does. True now and then: when the
// store has grown by another 4 MiB, somebody should see whether it is below its limit.
bool grow(const std::string &store, std::size_t size);

// The worker's log, open for appending; -1 when there is none to be had.
int open_log(const std::string &store);

} // namespace perfcc
