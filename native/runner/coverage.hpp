// The callbacks of clang's -fsanitize-coverage=trace-pc-guard,pc-table (clang manual, SanitizerCoverage).
#pragma once

#include <cstdio>

namespace perfcc {

// ,"edges":[...] : those reached for the first time since the last call.
void report_new_edges(std::FILE *report);

// {"total":N,"missed":[[edge, offset of its code in the codelet], ...]}
void report_all_edges(std::FILE *report);

} // namespace perfcc
