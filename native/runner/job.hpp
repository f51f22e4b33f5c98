// A job: what to load, what to feed it, what to do with it. The format is described in job.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace perfcc {

enum class Kind { Scalar, Pointer, Array, Vector };

struct Variable {
  std::string name;
  Kind kind = Kind::Scalar;
  std::size_t element = 1; // bytes
};

// A piece of memory and what it holds when a run starts.
struct Block {
  std::span<const std::byte> content;
  std::size_t alignment = 1;
  bool compared = true;
};

// Where a variable starts: arguments that share a block overlap.
struct Argument {
  std::size_t block = 0;
  std::size_t offset = 0; // bytes
};

struct Input {
  std::uint64_t id = 0;
  std::vector<Block> blocks;
  std::vector<Argument> arguments; // one a variable, in the variables' order
};

enum class Mode { Compare, Run, Time, Probe, Cover };

struct Job {
  Mode mode = Mode::Compare;
  std::string original;
  std::string candidate;
  std::string data;
  std::string scratch;
  bool paged = false; // buffers end at a page that may not be touched
  int poison = 0;     // fills fresh heap and stack memory
  bool wall = false;  // clock: wall time, or this thread's CPU time
  bool check_errno = false;
  std::uint64_t seed = 1;
  std::uint64_t sample_ns = 1000000;
  unsigned samples = 3; // a side and pair; the least counts
  unsigned pairs = 60;
  std::uint64_t limit_ms = 0; // after which no further pair begins; 0: none
  // The sequential sign test that ends the pairs, in thousandths; bounds of 0 are never reached.
  std::uint64_t ratio = 1100;
  std::uint64_t win = 0;
  std::uint64_t loss = 0;
  std::uint64_t accept = 0;
  std::uint64_t reject = 0;
  std::uint64_t cpu_seconds = 60;
  std::uint64_t address_bytes = 0; // 0: no limit
  std::vector<Variable> variables;
  std::vector<Input> inputs;
};

// Reads the job and maps its data file for the rest of the process's life. Throws std::runtime_error.
Job read_job(const std::string &path);

} // namespace perfcc
