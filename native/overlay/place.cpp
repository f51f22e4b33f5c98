#include "place.h"

#include "next.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace perfcc::overlay {
namespace {

bool starts_with(const char *path, const char *prefix) {
  const std::size_t length = std::strlen(prefix);
  return std::strncmp(path, prefix, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

char *append(char *to, const char *end, const char *text) {
  while (to < end && *text != '\0')
    *to++ = *text++;
  return to;
}

char *append(char *to, const char *end, unsigned long number) {
  char digits[24];
  char *at = digits + sizeof digits;
  *--at = '\0';
  do
    *--at = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  return append(to, end, at);
}

const char *base_of(const char *path) {
  const char *slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool is_name(const char *base) { return *base != '\0' && std::strcmp(base, ".") != 0 && std::strcmp(base, "..") != 0; }

} // namespace

bool is_outside(const char *path) {
  return starts_with(path, scratch()) || starts_with(path, "/dev") || starts_with(path, "/proc") ||
         starts_with(path, "/sys");
}

bool find_place(int at, const char *path, Place &place) {
  place.through = true;
  const char *base = base_of(path);
  if (!is_name(base) || is_outside(path))
    return true;
  // The folder by its inode: two names of one folder are one place.
  char folder[PATH_MAX];
  const std::size_t length = static_cast<std::size_t>(base - path);
  if (length >= sizeof folder) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(folder, length == 0 ? "." : path, length == 0 ? 1 : length);
  folder[length == 0 ? 1 : length] = '\0';
  struct stat status;
  if (NEXT(fstatat)(at, folder, &status, 0) != 0)
    return false;
  const char *end = place.file + sizeof place.file - 1;
  char *to = append(place.file, end, out());
  to = append(to, end, "/");
  to = append(to, end, static_cast<unsigned long>(status.st_dev));
  to = append(to, end, "-");
  to = append(to, end, static_cast<unsigned long>(status.st_ino));
  to = append(to, end, "/");
  place.base = to;
  to = append(to, end, base);
  *to = '\0';
  if (to == end) {
    errno = ENAMETOOLONG;
    return false;
  }
  place.through = false;
  return true;
}

bool written(int at, const char *path, Place &place) {
  const char *base = base_of(path);
  const int before = errno;
  struct stat status;
  const bool found =
      maybe_written(base) && find_place(at, path, place) && !place.through && NEXT(lstat)(place.file, &status) == 0;
  errno = before;
  return found;
}

bool prepare(const Place &place, const char *path) {
  char folder[PATH_MAX];
  const std::size_t length = static_cast<std::size_t>(place.base - place.file) - 1;
  std::memcpy(folder, place.file, length);
  folder[length] = '\0';
  if (NEXT(mkdir)(folder, 0700) != 0 && errno != EEXIST)
    return false;
  mark_written(place.base);
  record(Event::Write, path);
  return true;
}

int refuse(const char *operation, const char *path) {
  char text[PATH_MAX + 64];
  const char *end = text + sizeof text - 1;
  char *to = append(text, end, operation);
  to = append(to, end, " ");
  *append(to, end, path) = '\0';
  record(Event::Refused, text);
  errno = EROFS;
  return -1;
}

} // namespace perfcc::overlay
