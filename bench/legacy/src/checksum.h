// Fowler-Noll-Vo checksums over the exact bytes of a result.
#ifndef FIELDLAB_CHECKSUM_H
#define FIELDLAB_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string>
#include <vector>

uint64_t checksum(const void* data, size_t bytes);

template <class T>
uint64_t checksum(const std::vector<T>& values)
{
    return values.empty() ? checksum(static_cast<const void*>(0), 0) : checksum(&values[0], values.size() * sizeof(T));
}

uint64_t checksum(const std::string& text);

// Parity over whole words: cheap enough to be kept with every image.
unsigned int parity(const std::vector<unsigned int>& words);

#endif
