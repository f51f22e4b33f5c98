// Times both sides in pairs, interleaved in random order.
#pragma once

#include "library.hpp"

#include <cstdio>

namespace perfcc {

// For the first input, pairs until the sign test decides, there are job.pairs of them, or job.limit_ms are over. Then:
// {"wall":NS,"waited":NS}, how long the pairs took and how long threads of this process waited for a processor
// meanwhile (-1: unknown); one line a pair, {"old":NS,"new":NS}, nanoseconds a call; {"input":ID,"equal":BOOL}.
void time_pairs(const Job &job, const Library &original, const Library &candidate, std::FILE *report);

// For each input a line {"input":ID,"ns":NS}, nanoseconds a call of the original.
void time_original(const Job &job, const Library &original, std::FILE *report);

} // namespace perfcc
