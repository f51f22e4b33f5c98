// The function that would have been called without the overlay.
#pragma once

#include <dlfcn.h>

// Looked up once; an address that two threads look up at the same time is the same.
#define NEXT_AS(type, name)                                                                                            \
  ([]() -> type {                                                                                                      \
    static void *found = nullptr;                                                                                      \
    if (found == nullptr)                                                                                              \
      found = dlsym(RTLD_NEXT, name);                                                                                  \
    return reinterpret_cast<type>(found);                                                                              \
  }())
#define NEXT(function) NEXT_AS(decltype(&::function), #function)

// Defines a function that takes the place of the C library's of that name, whatever its headers make of the name.
#define TAKES_OVER(name) __asm__(name) __attribute__((visibility("default"), used))
