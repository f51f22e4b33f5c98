// Times both sides in pairs, interleaved in random order.
#pragma once

#include "library.hpp"

#include <cstdio>

namespace perfcc {

// For the first input, one line a pair: {"pair":I,"old":NS,"new":NS,"equal":BOOL}, nanoseconds a call, until job.pairs
// or nobody reads.
void time_pairs(const Job &job, const Library &original, const Library &candidate, std::FILE *report);

} // namespace perfcc
