#include "checksum.h"

uint64_t checksum(const void* data, size_t bytes)
{
    const unsigned char* p = static_cast<const unsigned char*>(data);
    uint64_t hash = (static_cast<uint64_t>(0xcbf29ce4u) << 32) | 0x84222325u;
    const uint64_t prime = (static_cast<uint64_t>(0x100u) << 32) | 0x000001b3u;
    for (size_t i = 0; i < bytes; ++i)
        hash = (hash ^ p[i]) * prime;
    return hash;
}

uint64_t checksum(const std::string& text)
{
    return checksum(text.data(), text.size());
}

unsigned int parity(const std::vector<unsigned int>& words)
{
    unsigned int bits = 0;
    for (size_t i = 0; i < words.size(); ++i)
        bits ^= words[i];
    return bits;
}
