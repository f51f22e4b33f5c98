// What a codelet may do: compute, use threads, and write below one folder.
#pragma once

#include "job.hpp"

#include <string>
#include <vector>

namespace perfcc {

// Locks this process in for good. Returns the names of the protections that took hold.
std::vector<std::string> enter_sandbox(const Job &job);

} // namespace perfcc
