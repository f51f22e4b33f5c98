#include "instance.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace perfcc {
namespace {

constexpr std::byte Canary{0xC7};

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

Memory::Memory(const Block &block, bool paged) {
  std::size_t size = block.content.size();
  if (!paged) {
    data_ = static_cast<std::byte *>(std::malloc(size));
    if (data_ == nullptr && size != 0)
      throw std::runtime_error("out of memory");
  } else {
    auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    // The last page traps; so does the first. Sizes that aren't a multiple of the alignment leave a gap smaller than it
    // at the end.
    std::size_t used = round_up(size, block.alignment);
    mapped_ = round_up(used + 1, page) + 2 * page;
    void *base = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED ||
        mprotect(static_cast<std::byte *>(base) + page, mapped_ - 2 * page, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("out of memory");
    mapping_ = static_cast<std::byte *>(base);
    std::fill(mapping_ + page, mapping_ + mapped_ - page, Canary);
    data_ = mapping_ + mapped_ - page - used;
  }
  if (size != 0)
    std::memcpy(data_, block.content.data(), size);
}

Memory::Memory(Memory &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_) {}

Memory::~Memory() {
  if (mapping_ != nullptr)
    munmap(mapping_, mapped_);
  else
    std::free(data_);
}

bool Memory::guards_intact() const {
  if (mapping_ == nullptr)
    return true;
  auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::all_of(mapping_ + page, data_, [](std::byte byte) { return byte == Canary; });
}

Instance::Instance(const Job &job, const Input &input, const Library &library)
    : job_(job), input_(input), library_(library), vectors_(input.blocks.size()), vector_owner_(input.blocks.size()),
      arguments_(job.variables.size()), changed_(input.blocks.size(), true) {
  memory_.reserve(input.blocks.size());
  for (const Block &block : input.blocks)
    memory_.emplace_back(block, job.paged);
  for (std::size_t i = 0; i < job.variables.size(); ++i) {
    const Argument &argument = input.arguments[i];
    if (job.variables[i].kind != Kind::Vector) {
      arguments_[i] = memory_[argument.block].data() + argument.offset;
      continue;
    }
    if (vectors_[argument.block] == nullptr) {
      std::span<const std::byte> content = input.blocks[argument.block].content;
      vectors_[argument.block] = library.vectors[i].make(content.data(), content.size());
      vector_owner_[argument.block] = i;
    }
    arguments_[i] = vectors_[argument.block];
  }
}

Instance::~Instance() {
  for (std::size_t i = 0; i < vectors_.size(); ++i)
    if (vectors_[i] != nullptr)
      library_.vectors[vector_owner_[i]].free(vectors_[i]);
}

int Instance::run() {
  errno = 0;
  library_.run(arguments_.data());
  return errno;
}

std::span<const std::byte> Instance::content(std::size_t index) const {
  if (vectors_[index] == nullptr)
    return {memory_[index].data(), input_.blocks[index].content.size()};
  void *data = nullptr;
  std::size_t bytes = 0;
  library_.vectors[vector_owner_[index]].view(vectors_[index], &data, &bytes);
  return {static_cast<const std::byte *>(data), bytes};
}

void Instance::restore() {
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    if (!changed_[i])
      continue;
    std::span<const std::byte> now = content(i);
    std::span<const std::byte> then = input_.blocks[i].content;
    if (!then.empty())
      std::memcpy(const_cast<std::byte *>(now.data()), then.data(), std::min(now.size(), then.size()));
  }
}

void Instance::note_changes() {
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    std::span<const std::byte> now = content(i);
    std::span<const std::byte> then = input_.blocks[i].content;
    changed_[i] = now.size() != then.size() || (!now.empty() && std::memcmp(now.data(), then.data(), now.size()) != 0);
  }
}

std::optional<std::string> Instance::broken_guard() const {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (memory_[i].guards_intact())
      continue;
    for (std::size_t v = 0; v < input_.arguments.size(); ++v)
      if (input_.arguments[v].block == i)
        return job_.variables[v].name;
    return "";
  }
  return std::nullopt;
}

[[gnu::noinline]] void poison_stack(int byte) {
  volatile char stack[1 << 16];
  for (volatile char &slot : stack)
    slot = static_cast<char>(byte);
}

} // namespace perfcc
