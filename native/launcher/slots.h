// Places for workers: as many as this machine has processors (and gibibytes of memory), for all builds of one user.
#pragma once

#include "files.h"

namespace perfcc {

// True when a worker may be started: `slot` holds its place until it is closed, however that comes about. Without a
// folder for such places there is no limit.
bool take_slot(Fd &slot);

} // namespace perfcc
