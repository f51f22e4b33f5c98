// The stages of a run. Each reads its own files, does its work under the stopwatch and leaves checksums and figures.
#ifndef FIELDLAB_STAGES_H
#define FIELDLAB_STAGES_H

#include <string>

#include "config.h"
#include "results.h"
#include "stopwatch.h"

struct Run {
    Config config;
    std::string data;   // directory of the input files
    std::string output; // directory for CSV files, empty for none
    Results results;
    Stopwatch watch;
};

typedef void (*Stage)(Run&);

struct StageEntry {
    const char* name;
    Stage stage;
    const char* what;
};

// All stages in their order; the last entry has no name.
extern const StageEntry stages[];

#endif
