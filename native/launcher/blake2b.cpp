#include "blake2b.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace perfcc {
namespace {

constexpr std::uint64_t initial[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

// RFC 7693, section 2.7; rounds 10 and 11 repeat rounds 0 and 1.
constexpr unsigned char sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

inline void mix(std::uint64_t &a, std::uint64_t &b, std::uint64_t &c, std::uint64_t &d, std::uint64_t x,
                std::uint64_t y) {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

int nibble(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return -1;
}

} // namespace

Blake2b::Blake2b() {
  std::copy(std::begin(initial), std::end(initial), state_);
  state_[0] ^= 0x01010000 ^ sizeof(Digest); // fan-out 1, depth 1, no key, digest length
}

void Blake2b::compress(const unsigned char *block, bool last) {
  std::uint64_t m[16], v[16];
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(m, block, sizeof m);
  std::copy(state_, state_ + 8, v);
  std::copy(std::begin(initial), std::end(initial), v + 8);
  v[12] ^= count_;
  if (last)
    v[14] = ~v[14];
  for (int round = 0; round < 12; ++round) {
    const unsigned char *s = sigma[round % 10];
    mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
    mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
    mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
    mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
    mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
    mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
    mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
    mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
  }
  for (int i = 0; i < 8; ++i)
    state_[i] ^= v[i] ^ v[i + 8];
}

void Blake2b::update(std::string_view bytes) {
  const auto *next = reinterpret_cast<const unsigned char *>(bytes.data());
  std::size_t left = bytes.size();
  while (left > 0) {
    if (held_ == sizeof buffer_) { // kept back until more comes, as the last block is marked
      count_ += sizeof buffer_;
      compress(buffer_, false);
      held_ = 0;
    }
    const std::size_t taken = std::min(left, sizeof buffer_ - held_);
    std::memcpy(buffer_ + held_, next, taken);
    held_ += taken;
    next += taken;
    left -= taken;
  }
}

void Blake2b::field(std::string_view bytes) {
  const std::uint64_t length = bytes.size();
  update({reinterpret_cast<const char *>(&length), sizeof length});
  update(bytes);
}

Digest Blake2b::finish() {
  count_ += held_;
  std::memset(buffer_ + held_, 0, sizeof buffer_ - held_);
  compress(buffer_, true);
  Digest digest;
  std::memcpy(digest.data(), state_, digest.size());
  return digest;
}

Digest blake2b(std::string_view bytes) {
  Blake2b hash;
  hash.update(bytes);
  return hash.finish();
}

std::string to_hex(const Digest &digest) {
  std::string hex;
  hex.reserve(2 * digest.size());
  for (unsigned char byte : digest) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

bool from_hex(std::string_view hex, Digest &digest) {
  if (hex.size() != 2 * digest.size())
    return false;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const int high = nibble(hex[2 * i]), low = nibble(hex[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    digest[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return true;
}

} // namespace perfcc
