#include "files.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace perfcc {

void Fd::reset(int fd) {
  if (fd_ >= 0)
    close(fd_);
  fd_ = fd;
}

std::string absolute(std::string_view path, std::string_view cwd) {
  if (!path.empty() && path[0] == '/')
    return std::string(path);
  std::string joined(cwd);
  if (joined.empty() || joined.back() != '/')
    joined += '/';
  return joined += path;
}

std::string real_path(const std::string &path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) != nullptr ? buffer : "";
}

std::string working_directory() {
  char buffer[PATH_MAX];
  return getcwd(buffer, sizeof buffer) != nullptr ? buffer : "";
}

std::string_view directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos)
    return ".";
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

bool read_descriptor(int fd, std::string &text) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) > max_file)
    return false;
  text.resize(static_cast<std::size_t>(status.st_size));
  std::size_t held = 0;
  while (held < text.size()) {
    const ssize_t got = pread(fd, text.data() + held, text.size() - held, static_cast<off_t>(held));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    held += static_cast<std::size_t>(got);
  }
  return true;
}

bool read_file(const std::string &path, std::string &text) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return fd.ok() && read_descriptor(fd.get(), text);
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

bool make_directories(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0)
    return S_ISDIR(status.st_mode);
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0777);
  return mkdir(path.c_str(), 0777) == 0 || errno == EEXIST;
}

bool write_atomically(const std::string &path, std::string_view bytes) {
  std::string temporary = std::string(directory_of(path)) + "/.perfcc-XXXXXX";
  const Fd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.ok())
    return false;
  const mode_t mask = umask(0);
  umask(mask);
  if (write_all(fd.get(), bytes) && fchmod(fd.get(), 0666 & ~mask) == 0 && rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  unlink(temporary.c_str());
  return false;
}

bool is_regular(const std::string &path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_executable(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

bool same_state(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         nanoseconds(a.st_mtim) == nanoseconds(b.st_mtim) && nanoseconds(a.st_ctim) == nanoseconds(b.st_ctim);
}

long long nanoseconds(const struct timespec &time) {
  return static_cast<long long>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

long long now_nanoseconds() {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

} // namespace perfcc
