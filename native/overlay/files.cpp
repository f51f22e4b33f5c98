// Opening files.
#include "next.h"
#include "place.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

namespace perfcc::overlay {
namespace {

int next_open(int at, const char *path, int flags, mode_t mode) {
  return NEXT_AS(int (*)(int, const char *, int, mode_t), "openat")(at, path, flags, mode);
}

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0; }

int open_to_read(int at, const char *path, int flags, mode_t mode) {
  Place place;
  if (written(at, path, place))
    return next_open(AT_FDCWD, place.file, flags, mode);
  const int fd = next_open(at, path, flags, mode);
  if (fd < 0 || (flags & (O_DIRECTORY | O_PATH)) != 0)
    return fd;
  struct stat status;
  if (NEXT(fstat)(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return fd;
  if (const Source *source = source_of(status)) {
    const int copy = next_open(AT_FDCWD, source->copy, flags, mode);
    if (copy >= 0)
      record(Event::Mapped, path);
    close(fd);
    return copy;
  }
  if (!is_outside(path))
    record(Event::Read, path);
  return fd;
}

// The place for a file that is about to be written, ready for it; false with errno set. `flags` are adapted.
bool open_place(int at, const char *path, int &flags, Place &place) {
  if (!find_place(at, path, place))
    return false;
  if (place.through)
    return true;
  struct stat there;
  struct stat ours;
  const bool exists = NEXT(fstatat)(at, path, &there, 0) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    refuse("open", path);
    return false;
  }
  if (exists && NEXT(lstat)(place.file, &ours) != 0) {
    if ((flags & O_EXCL) != 0) {
      errno = EEXIST;
      return false;
    }
    if ((flags & O_TRUNC) == 0) {
      refuse("open", path);
      return false;
    }
    flags |= O_CREAT;
  }
  return prepare(place, path);
}

int open_any(int at, const char *path, int flags, mode_t mode) {
  if (!active())
    return next_open(at, path, flags, mode);
  if (!writes(flags))
    return open_to_read(at, path, flags, mode);
  Place place;
  if ((flags & O_TMPFILE) == O_TMPFILE)
    return refuse("open", path);
  if (!open_place(at, path, flags, place))
    return -1;
  return place.through ? next_open(at, path, flags, mode)
                       : next_open(AT_FDCWD, place.file, flags, (flags & O_CREAT) != 0 ? mode | 0600 : 0);
}

mode_t mode_of(int flags, va_list list) { return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0; }

// As of fopen(3); -1 for a mode it doesn't know.
int flags_of(const char *mode) {
  int flags;
  switch (*mode) {
  case 'r':
    flags = O_RDONLY;
    break;
  case 'w':
    flags = O_WRONLY | O_CREAT | O_TRUNC;
    break;
  case 'a':
    flags = O_WRONLY | O_CREAT | O_APPEND;
    break;
  default:
    return -1;
  }
  for (const char *c = mode + 1; *c != '\0' && *c != ','; ++c)
    flags |= *c == 'x' ? O_EXCL : *c == 'e' ? O_CLOEXEC : 0;
  return std::strchr(mode, '+') != nullptr ? (flags & ~O_ACCMODE) | O_RDWR : flags;
}

FILE *open_stream(const char *path, const char *mode, FILE *(*next)(const char *, const char *)) {
  const int flags = flags_of(mode);
  if (!active() || flags < 0)
    return next(path, mode);
  const int fd = open_any(AT_FDCWD, path, flags, 0666);
  if (fd < 0)
    return nullptr;
  FILE *stream = fdopen(fd, mode);
  if (stream == nullptr)
    close(fd);
  return stream;
}

FILE *reopen_stream(const char *path, const char *mode, FILE *stream,
                    FILE *(*next)(const char *, const char *, FILE *)) {
  int flags = flags_of(mode);
  if (!active() || flags < 0 || path == nullptr)
    return next(path, mode, stream);
  Place place;
  if (!writes(flags)) {
    if (written(AT_FDCWD, path, place))
      return next(place.file, mode, stream);
    struct stat status;
    const Source *source = NEXT(stat)(path, &status) == 0 ? source_of(status) : nullptr;
    record(source != nullptr ? Event::Mapped : Event::Read, path);
    return next(source != nullptr ? source->copy : path, mode, stream);
  }
  if (!open_place(AT_FDCWD, path, flags, place))
    return nullptr;
  return next(place.through ? path : place.file, mode, stream);
}

// Temporary files get names that are free both where they seem to be and where they are.
int open_temporary(char *pattern, int suffix, int flags) {
  const std::size_t length = std::strlen(pattern);
  if (suffix < 0 || length < static_cast<std::size_t>(suffix) + 6) {
    errno = EINVAL;
    return -1;
  }
  constexpr char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
  char *at = pattern + length - static_cast<std::size_t>(suffix) - 6;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    unsigned char noise[6];
    if (getrandom(noise, sizeof noise, 0) != static_cast<ssize_t>(sizeof noise))
      return -1;
    for (std::size_t i = 0; i < sizeof noise; ++i)
      at[i] = letters[noise[i] % 32];
    const int fd = open_any(AT_FDCWD, pattern, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd >= 0 || errno != EEXIST)
      return fd;
  }
  return -1;
}

} // namespace

extern "C" {

#define OPENS(name, called)                                                                                            \
  int name(const char *path, int flags, ...) TAKES_OVER(called);                                                       \
  int name(const char *path, int flags, ...) {                                                                         \
    va_list list;                                                                                                      \
    va_start(list, flags);                                                                                             \
    const mode_t mode = mode_of(flags, list);                                                                          \
    va_end(list);                                                                                                      \
    return open_any(AT_FDCWD, path, flags, mode);                                                                      \
  }
#define OPENS_AT(name, called)                                                                                         \
  int name(int at, const char *path, int flags, ...) TAKES_OVER(called);                                               \
  int name(int at, const char *path, int flags, ...) {                                                                 \
    va_list list;                                                                                                      \
    va_start(list, flags);                                                                                             \
    const mode_t mode = mode_of(flags, list);                                                                          \
    va_end(list);                                                                                                      \
    return open_any(at, path, flags, mode);                                                                            \
  }
OPENS(take_open, "open")
OPENS(take_open64, "open64")
OPENS(take_open_2, "__open_2")
OPENS(take_open64_2, "__open64_2")
OPENS_AT(take_openat, "openat")
OPENS_AT(take_openat64, "openat64")
OPENS_AT(take_openat_2, "__openat_2")
OPENS_AT(take_openat64_2, "__openat64_2")

int take_creat(const char *path, mode_t mode) TAKES_OVER("creat");
int take_creat(const char *path, mode_t mode) { return open_any(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int take_creat64(const char *path, mode_t mode) TAKES_OVER("creat64");
int take_creat64(const char *path, mode_t mode) { return open_any(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }

FILE *take_fopen(const char *path, const char *mode) TAKES_OVER("fopen");
FILE *take_fopen(const char *path, const char *mode) { return open_stream(path, mode, NEXT(fopen)); }
FILE *take_fopen64(const char *path, const char *mode) TAKES_OVER("fopen64");
FILE *take_fopen64(const char *path, const char *mode) { return open_stream(path, mode, NEXT(fopen)); }

FILE *take_freopen(const char *path, const char *mode, FILE *stream) TAKES_OVER("freopen");
FILE *take_freopen(const char *path, const char *mode, FILE *stream) {
  return reopen_stream(path, mode, stream, NEXT(freopen));
}
FILE *take_freopen64(const char *path, const char *mode, FILE *stream) TAKES_OVER("freopen64");
FILE *take_freopen64(const char *path, const char *mode, FILE *stream) {
  return reopen_stream(path, mode, stream, NEXT(freopen));
}

#define TEMPORARIES(suffix)                                                                                            \
  int take_mkstemp##suffix(char *pattern) TAKES_OVER("mkstemp" #suffix);                                               \
  int take_mkstemp##suffix(char *pattern) { return open_temporary(pattern, 0, 0); }                                    \
  int take_mkostemp##suffix(char *pattern, int flags) TAKES_OVER("mkostemp" #suffix);                                  \
  int take_mkostemp##suffix(char *pattern, int flags) { return open_temporary(pattern, 0, flags); }                    \
  int take_mkstemps##suffix(char *pattern, int length) TAKES_OVER("mkstemps" #suffix);                                 \
  int take_mkstemps##suffix(char *pattern, int length) { return open_temporary(pattern, length, 0); }                  \
  int take_mkostemps##suffix(char *pattern, int length, int flags) TAKES_OVER("mkostemps" #suffix);                    \
  int take_mkostemps##suffix(char *pattern, int length, int flags) { return open_temporary(pattern, length, flags); }
TEMPORARIES()
TEMPORARIES(64)

} // extern "C"

} // namespace perfcc::overlay
