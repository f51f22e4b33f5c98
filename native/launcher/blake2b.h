// BLAKE2b-256 without a key (RFC 7693).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace perfcc {

using Digest = std::array<unsigned char, 32>;

class Blake2b {
public:
  Blake2b();
  void update(std::string_view bytes);
  // A field of its own: its length comes first, so that no two sequences of fields give the same bytes.
  void field(std::string_view bytes);
  Digest finish();

private:
  void compress(const unsigned char *block, bool last);

  std::uint64_t state_[8];
  std::uint64_t count_ = 0;
  unsigned char buffer_[128];
  std::size_t held_ = 0;
};

Digest blake2b(std::string_view bytes);
std::string to_hex(const Digest &digest);
bool from_hex(std::string_view hex, Digest &digest);

} // namespace perfcc
