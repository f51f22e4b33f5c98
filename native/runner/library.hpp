// A codelet: a shared object with one entry and, for each vector among its variables, functions to make, see and free
// it.
#pragma once

#include "job.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace perfcc {

struct VectorFunctions {
  void *(*make)(const void *content, std::size_t bytes) = nullptr;
  void (*view)(void *vector, void **data, std::size_t *bytes) = nullptr;
  void (*free)(void *vector) = nullptr;
};

struct Library {
  void (*run)(void **arguments) = nullptr;
  const unsigned long *fast_runs = nullptr; // how often the rewrite ran; absent in an original
  std::vector<VectorFunctions> vectors;     // one a variable, empty unless it is a vector
};

// Throws std::runtime_error when it can't be loaded or lacks a symbol.
Library load(const std::string &path, const Job &job);

} // namespace perfcc
