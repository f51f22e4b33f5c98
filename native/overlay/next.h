// The function that would have been called without the overlay.
#pragma once

#include <cstddef>
#include <dlfcn.h>

namespace perfcc::overlay {

struct Name {
  char text[32] = {};
  template <std::size_t size> consteval Name(const char (&name)[size]) {
    for (std::size_t i = 0; i < size; ++i)
      text[i] = name[i];
  }
};

// Looked up once; the address that two threads look up at the same time is the same.
template <Name name> void *next_address() {
  static void *found = nullptr;
  if (found == nullptr)
    found = dlsym(RTLD_NEXT, name.text);
  return found;
}

} // namespace perfcc::overlay

#define NEXT_AS(type, name) (reinterpret_cast<type>(perfcc::overlay::next_address<name>()))
#define NEXT(function) NEXT_AS(decltype(&::function), #function)

// Defines a function that takes the place of the C library's of that name, whatever its headers make of the name.
#define TAKES_OVER(name) __asm__(name) __attribute__((visibility("default"), used))
