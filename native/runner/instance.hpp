// One side's private copy of one input.
#pragma once

#include "library.hpp"

#include <optional>
#include <span>
#include <string>

namespace perfcc {

// A block's memory. Heap: exactly its size, so that a sanitizer sees the edges. Paged: its last byte lies before a page
// that traps, and what lies before it is checked for writes.
class Memory {
public:
  Memory(const Block &block, bool paged);
  Memory(Memory &&other) noexcept;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory();

  std::byte *data() const { return data_; }
  bool guards_intact() const;

private:
  std::byte *data_ = nullptr;
  std::byte *mapping_ = nullptr; // null: heap
  std::size_t mapped_ = 0;
};

class Instance {
public:
  Instance(const Job &job, const Input &input, const Library &library);
  Instance(const Instance &) = delete;
  Instance &operator=(const Instance &) = delete;
  ~Instance();

  // Runs the codelet once and returns errno as it left it.
  int run();
  // Puts the input's content back into the blocks that a run changes.
  void restore();
  // Learns which blocks a run changed.
  void note_changes();

  // What block `index` holds now.
  std::span<const std::byte> content(std::size_t index) const;
  // The name of a variable written outside its bounds, if any.
  std::optional<std::string> broken_guard() const;

private:
  const Job &job_;
  const Input &input_;
  const Library &library_;
  std::vector<Memory> memory_;
  std::vector<void *> vectors_;           // one a block; null: raw memory
  std::vector<std::size_t> vector_owner_; // the variable whose functions made it
  std::vector<void *> arguments_;
  std::vector<bool> changed_;
};

// Fills the stack below the caller with that byte.
void poison_stack(int byte);

} // namespace perfcc
