// Changing names and states: what this compile wrote may be changed, all else is refused.
#include "next.h"
#include "place.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

namespace perfcc::overlay {
namespace {

// Where a change to what the path names goes: the path itself, what was written in its place, or (nullptr) nowhere.
const char *changed(const char *operation, int at, const char *path, Place &place) {
  if (!active())
    return path;
  if (written(at, path, place))
    return place.file;
  if (!find_place(at, path, place))
    return nullptr;
  if (place.through)
    return path;
  refuse(operation, path);
  return nullptr;
}

int unlink_any(int at, const char *path, int flags) {
  Place place;
  if (!active() || (flags & AT_REMOVEDIR) != 0) {
    const char *name = changed("rmdir", at, path, place);
    return name == nullptr ? -1 : NEXT(unlinkat)(at, name, flags);
  }
  if (written(at, path, place))
    return NEXT(unlink)(place.file);
  struct stat status;
  if (!find_place(at, path, place))
    return -1;
  if (place.through || NEXT(fstatat)(at, path, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return NEXT(unlinkat)(at, path, flags);
  // Compilers remove an output before they write it anew.
  record(Event::Unlink, path);
  return 0;
}

int rename_any(int from_at, const char *from, int to_at, const char *to) {
  if (!active())
    return NEXT(renameat)(from_at, from, to_at, to);
  Place source;
  Place target;
  const char *name = changed("rename", from_at, from, source);
  if (name == nullptr || !find_place(to_at, to, target))
    return -1;
  if (target.through)
    return NEXT(renameat)(from_at, name, to_at, to);
  if (!prepare(target, to))
    return -1;
  return NEXT(renameat)(from_at, name, AT_FDCWD, target.file);
}

int make_folder(int at, const char *path, mode_t mode) {
  struct stat status;
  if (active() && NEXT(fstatat)(at, path, &status, 0) == 0) {
    errno = EEXIST;
    return -1;
  }
  Place place;
  const char *name = changed("mkdir", at, path, place);
  return name == nullptr ? -1 : NEXT(mkdirat)(at, name, mode);
}

int times_any(int at, const char *path, const struct timespec *times, int flags) {
  Place place;
  const char *name = changed("utimensat", at, path, place);
  return name == nullptr ? -1 : NEXT(utimensat)(at, name, times, flags);
}

} // namespace

extern "C" {

int take_unlink(const char *path) TAKES_OVER("unlink");
int take_unlink(const char *path) { return unlink_any(AT_FDCWD, path, 0); }
int take_unlinkat(int at, const char *path, int flags) TAKES_OVER("unlinkat");
int take_unlinkat(int at, const char *path, int flags) { return unlink_any(at, path, flags); }
int take_remove(const char *path) TAKES_OVER("remove");
int take_remove(const char *path) {
  struct stat status;
  const bool folder = NEXT(lstat)(path, &status) == 0 && S_ISDIR(status.st_mode);
  return unlink_any(AT_FDCWD, path, folder ? AT_REMOVEDIR : 0);
}
int take_rmdir(const char *path) TAKES_OVER("rmdir");
int take_rmdir(const char *path) { return unlink_any(AT_FDCWD, path, AT_REMOVEDIR); }

int take_rename(const char *from, const char *to) TAKES_OVER("rename");
int take_rename(const char *from, const char *to) { return rename_any(AT_FDCWD, from, AT_FDCWD, to); }
int take_renameat(int from_at, const char *from, int to_at, const char *to) TAKES_OVER("renameat");
int take_renameat(int from_at, const char *from, int to_at, const char *to) {
  return rename_any(from_at, from, to_at, to);
}
int take_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) TAKES_OVER("renameat2");
int take_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  if (flags == 0)
    return rename_any(from_at, from, to_at, to);
  return active() ? refuse("renameat2", from) : NEXT(renameat2)(from_at, from, to_at, to, flags);
}

int take_mkdir(const char *path, mode_t mode) TAKES_OVER("mkdir");
int take_mkdir(const char *path, mode_t mode) { return make_folder(AT_FDCWD, path, mode); }
int take_mkdirat(int at, const char *path, mode_t mode) TAKES_OVER("mkdirat");
int take_mkdirat(int at, const char *path, mode_t mode) { return make_folder(at, path, mode); }

int take_link(const char *from, const char *to) TAKES_OVER("link");
int take_link(const char *from, const char *to) { return active() ? refuse("link", to) : NEXT(link)(from, to); }
int take_linkat(int from_at, const char *from, int to_at, const char *to, int flags) TAKES_OVER("linkat");
int take_linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
  return active() ? refuse("link", to) : NEXT(linkat)(from_at, from, to_at, to, flags);
}
int take_symlink(const char *from, const char *to) TAKES_OVER("symlink");
int take_symlink(const char *from, const char *to) {
  return active() ? refuse("symlink", to) : NEXT(symlink)(from, to);
}
int take_symlinkat(const char *from, int at, const char *to) TAKES_OVER("symlinkat");
int take_symlinkat(const char *from, int at, const char *to) {
  return active() ? refuse("symlink", to) : NEXT(symlinkat)(from, at, to);
}

#define CHANGES(name, called, parameters, operation, at, path, call)                                                   \
  int name parameters TAKES_OVER(called);                                                                              \
  int name parameters {                                                                                                \
    Place place;                                                                                                       \
    const char *file = changed(operation, at, path, place);                                                            \
    return file == nullptr ? -1 : call;                                                                                \
  }
CHANGES(take_chmod, "chmod", (const char *path, mode_t mode), "chmod", AT_FDCWD, path, NEXT(chmod)(file, mode))
CHANGES(take_fchmodat, "fchmodat", (int at, const char *path, mode_t mode, int flags), "chmod", at, path,
        NEXT(fchmodat)(at, file, mode, flags))
CHANGES(take_chown, "chown", (const char *path, uid_t user, gid_t group), "chown", AT_FDCWD, path,
        NEXT(chown)(file, user, group))
CHANGES(take_truncate, "truncate", (const char *path, off_t size), "truncate", AT_FDCWD, path,
        NEXT(truncate)(file, size))
CHANGES(take_truncate64, "truncate64", (const char *path, off_t size), "truncate", AT_FDCWD, path,
        NEXT(truncate)(file, size))
CHANGES(take_utime, "utime", (const char *path, const struct utimbuf *times), "utime", AT_FDCWD, path,
        NEXT(utime)(file, times))
CHANGES(take_utimes, "utimes", (const char *path, const struct timeval *times), "utimes", AT_FDCWD, path,
        NEXT(utimes)(file, times))

int take_utimensat(int at, const char *path, const struct timespec *times, int flags) TAKES_OVER("utimensat");
int take_utimensat(int at, const char *path, const struct timespec *times, int flags) {
  return times_any(at, path, times, flags);
}

} // extern "C"

} // namespace perfcc::overlay
