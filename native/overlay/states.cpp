// Asking about files: what has a copy keeps its own state but for the size, what was written is where it was written
// to.
#include "next.h"
#include "place.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace perfcc::overlay {
namespace {

void disguise(struct stat &status) {
  if (const Source *source = source_of_copy(status))
    status = source->original;
  if (const Source *source = source_of(status)) {
    status.st_size = source->copied.st_size;
    status.st_blocks = source->copied.st_blocks;
  }
}

int stat_any(int at, const char *path, struct stat *status, int flags) {
  Place place;
  const bool here = active() && path != nullptr && *path != '\0' && written(at, path, place);
  const int result = here ? NEXT(fstatat)(AT_FDCWD, place.file, status, flags & AT_SYMLINK_NOFOLLOW)
                          : NEXT(fstatat)(at, path, status, flags);
  if (result == 0 && active())
    disguise(*status);
  return result;
}

int stat_descriptor(int fd, struct stat *status) {
  const int result = NEXT(fstat)(fd, status);
  if (result == 0 && active())
    disguise(*status);
  return result;
}

int statx_any(int at, const char *path, int flags, unsigned mask, struct statx *status) {
  Place place;
  if (active() && path != nullptr && *path != '\0' && written(at, path, place))
    return NEXT(statx)(AT_FDCWD, place.file, flags, mask, status);
  const int result = NEXT(statx)(at, path, flags, mask, status);
  struct stat plain;
  if (result != 0 || !active() || NEXT(fstatat)(at, path, &plain, flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) != 0)
    return result;
  const Source *copied = source_of_copy(plain);
  if (copied != nullptr && NEXT(statx)(AT_FDCWD, copied->path, 0, mask, status) != 0)
    return -1;
  const Source *source = copied != nullptr ? copied : source_of(plain);
  if (source != nullptr) {
    status->stx_size = static_cast<unsigned long long>(source->copied.st_size);
    status->stx_blocks = static_cast<unsigned long long>(source->copied.st_blocks);
  }
  return result;
}

int access_any(int at, const char *path, int mode, int flags) {
  Place place;
  if (active() && written(at, path, place))
    return NEXT(faccessat)(AT_FDCWD, place.file, mode, flags);
  return NEXT(faccessat)(at, path, mode, flags);
}

// A descriptor's name must not give the copy away.
ssize_t readlink_any(int at, const char *path, char *text, std::size_t size) {
  const ssize_t length = NEXT(readlinkat)(at, path, text, size);
  if (length <= 0 || !active() || std::strncmp(path, "/proc/", 6) != 0)
    return length;
  const Source *source = source_of_copy(text, static_cast<std::size_t>(length));
  if (source == nullptr)
    return length;
  const std::size_t real = std::strlen(source->path);
  std::memcpy(text, source->path, real < size ? real : size);
  return static_cast<ssize_t>(real < size ? real : size);
}

} // namespace

extern "C" {

#define STATES(suffix)                                                                                                 \
  int take_stat##suffix(const char *path, struct stat *status) TAKES_OVER("stat" #suffix);                             \
  int take_stat##suffix(const char *path, struct stat *status) { return stat_any(AT_FDCWD, path, status, 0); }         \
  int take_lstat##suffix(const char *path, struct stat *status) TAKES_OVER("lstat" #suffix);                           \
  int take_lstat##suffix(const char *path, struct stat *status) {                                                      \
    return stat_any(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);                                                      \
  }                                                                                                                    \
  int take_fstat##suffix(int fd, struct stat *status) TAKES_OVER("fstat" #suffix);                                     \
  int take_fstat##suffix(int fd, struct stat *status) { return stat_descriptor(fd, status); }                          \
  int take_fstatat##suffix(int at, const char *path, struct stat *status, int flags) TAKES_OVER("fstatat" #suffix);    \
  int take_fstatat##suffix(int at, const char *path, struct stat *status, int flags) {                                 \
    return stat_any(at, path, status, flags);                                                                          \
  }                                                                                                                    \
  /* What programs call that were built for an older C library. */                                                     \
  int take_xstat##suffix(int, const char *path, struct stat *status) TAKES_OVER("__xstat" #suffix);                    \
  int take_xstat##suffix(int, const char *path, struct stat *status) { return stat_any(AT_FDCWD, path, status, 0); }   \
  int take_lxstat##suffix(int, const char *path, struct stat *status) TAKES_OVER("__lxstat" #suffix);                  \
  int take_lxstat##suffix(int, const char *path, struct stat *status) {                                                \
    return stat_any(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);                                                      \
  }                                                                                                                    \
  int take_fxstat##suffix(int, int fd, struct stat *status) TAKES_OVER("__fxstat" #suffix);                            \
  int take_fxstat##suffix(int, int fd, struct stat *status) { return stat_descriptor(fd, status); }                    \
  int take_fxstatat##suffix(int, int at, const char *path, struct stat *status, int flags)                             \
      TAKES_OVER("__fxstatat" #suffix);                                                                                \
  int take_fxstatat##suffix(int, int at, const char *path, struct stat *status, int flags) {                           \
    return stat_any(at, path, status, flags);                                                                          \
  }
STATES()
STATES(64)
static_assert(sizeof(void *) == 8, "stat and stat64 are one structure on 64-bit systems alone");

int take_statx(int at, const char *path, int flags, unsigned mask, struct statx *status) TAKES_OVER("statx");
int take_statx(int at, const char *path, int flags, unsigned mask, struct statx *status) {
  return statx_any(at, path, flags, mask, status);
}

int take_access(const char *path, int mode) TAKES_OVER("access");
int take_access(const char *path, int mode) { return access_any(AT_FDCWD, path, mode, 0); }
int take_eaccess(const char *path, int mode) TAKES_OVER("eaccess");
int take_eaccess(const char *path, int mode) { return access_any(AT_FDCWD, path, mode, AT_EACCESS); }
int take_euidaccess(const char *path, int mode) TAKES_OVER("euidaccess");
int take_euidaccess(const char *path, int mode) { return access_any(AT_FDCWD, path, mode, AT_EACCESS); }
int take_faccessat(int at, const char *path, int mode, int flags) TAKES_OVER("faccessat");
int take_faccessat(int at, const char *path, int mode, int flags) { return access_any(at, path, mode, flags); }

ssize_t take_readlink(const char *path, char *text, std::size_t size) TAKES_OVER("readlink");
ssize_t take_readlink(const char *path, char *text, std::size_t size) {
  return readlink_any(AT_FDCWD, path, text, size);
}
ssize_t take_readlinkat(int at, const char *path, char *text, std::size_t size) TAKES_OVER("readlinkat");
ssize_t take_readlinkat(int at, const char *path, char *text, std::size_t size) {
  return readlink_any(at, path, text, size);
}
ssize_t take_readlink_chk(const char *path, char *text, std::size_t size, std::size_t) TAKES_OVER("__readlink_chk");
ssize_t take_readlink_chk(const char *path, char *text, std::size_t size, std::size_t) {
  return readlink_any(AT_FDCWD, path, text, size);
}

} // extern "C"

} // namespace perfcc::overlay
