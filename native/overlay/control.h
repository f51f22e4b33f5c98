// What the overlay is told, and what it tells.
//
// The environment variable PERFCC_OVERLAY names the control file, which all processes of one compile map and share. The
// caller (perfcc/cc/emit/overlay.py, which has the layout too) writes which sources have copies; the overlay writes
// what it did. Opening such a source for reading, under whatever name, gives its copy. Whatever is opened for writing
// outside the scratch folder is written into the folder `out` instead, and read from there by later processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/stat.h>

namespace perfcc::overlay {

inline constexpr char magic[8] = {'p', 'e', 'r', 'f', 'c', 'c', 'O', '1'};
inline constexpr std::size_t flag_count = 4096;
inline constexpr std::size_t map_size = 1U << 18;
inline constexpr std::size_t log_size = 4U << 20;
inline constexpr std::size_t max_sources = 256;

struct Control {
  char magic[8];
  std::uint32_t used;              // bytes of the log
  std::uint32_t overflow;          // not 0: the log is incomplete
  unsigned char flags[flag_count]; // one for the hash of every base name ever written
  char map[map_size - flag_count -
           16];       // scratch, out, then source and copy of each pair; NUL after each, one more at the end
  char log[log_size]; // records: a letter of Event, a name as the program gave it, NUL
};
static_assert(offsetof(Control, log) == map_size);

enum class Event : char {
  Read = 'R',    // a file was opened for reading
  Mapped = 'M',  // a source was opened for reading: it got the copy
  Write = 'W',   // an output was opened for writing: it went to `out`
  Unlink = 'U',  // a file that this compile didn't write was to be removed, and is still there
  Refused = 'V', // what the overlay can't follow, refused with EROFS
  Alien = 'X',   // a program that would not load the overlay, refused with EACCES
};

struct Source {
  const char *path;
  const char *copy;
  struct stat original;
  struct stat copied;
};

// False when there is nothing to do: PERFCC_OVERLAY isn't set. Ends the process when the control file can't be used.
bool active();
const char *scratch();
const char *out();
// The source that is this file, or whose copy is; nullptr for all others.
const Source *source_of(const struct stat &status);
const Source *source_of_copy(const struct stat &status);
const Source *source_of_copy(const char *path, std::size_t length);
void record(Event event, const char *name);
void mark_written(const char *base);
bool maybe_written(const char *base);

} // namespace perfcc::overlay
