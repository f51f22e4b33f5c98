#include "files.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace perfcc {
namespace {

std::string beside(const std::string &path, const std::string &name) {
  return std::string(directory_of(path)) + "/" + name;
}

} // namespace

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

std::string temporary_folder() {
  const char *root = std::getenv("TMPDIR");
  return root != nullptr && *root == '/' && access(root, W_OK) == 0 ? root : "/tmp";
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

bool read_stored(const std::string &path, std::string &text) {
  constexpr long long hour = 3600LL * 1000000000;
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (!fd.ok() || fstat(fd.get(), &status) != 0 || !read_descriptor(fd.get(), text))
    return false;
  if (std::llabs(now_nanoseconds() - nanoseconds(status.st_mtim)) > hour)
    futimens(fd.get(), nullptr);
  return true;
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
  std::string temporary = beside(path, ".perfcc-XXXXXX");
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

namespace {

// Gives the file behind the descriptor a name beside `path`, to be renamed: always the same one, so that what a killed
// process left there is found and taken away by the next. Another's is left alone: it lives for some microseconds.
std::string link_beside(int fd, const std::string &path) {
  constexpr long long stale = 60LL * 1000000000;
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  const std::string common = beside(path, "." + path.substr(path.rfind('/') + 1) + ".perfcc");
  struct stat status;
  if (lstat(common.c_str(), &status) == 0 && std::llabs(now_nanoseconds() - nanoseconds(status.st_ctim)) > stale)
    unlink(common.c_str());
  for (const std::string &name : {common, common + "-" + std::to_string(getpid())})
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
      return name;
  return "";
}

bool fill(const Fd &fd, std::string_view bytes, const struct stat &like) {
  const struct timespec times[2] = {like.st_atim, like.st_mtim};
  return fd.ok() && write_all(fd.get(), bytes) && fchmod(fd.get(), like.st_mode & 07777) == 0 &&
         futimens(fd.get(), times) == 0;
}

// The bytes in a file beside `path`; its name, empty when that could not be done.
std::string written_beside(const std::string &path, std::string_view bytes, const struct stat &like) {
  const Fd unnamed(open(std::string(directory_of(path)).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fill(unnamed, bytes, like))
    if (std::string name = link_beside(unnamed.get(), path); !name.empty())
      return name;
  std::string name = beside(path, ".perfcc-XXXXXX"); // not every file system has files without a name
  const Fd named(mkostemp(name.data(), O_CLOEXEC));
  if (!named.ok() || fill(named, bytes, like))
    return named.ok() ? name : "";
  unlink(name.c_str());
  return "";
}

} // namespace

bool replace_file(const std::string &path, std::string_view bytes, const struct stat &like) {
  const std::string name = written_beside(path, bytes, like);
  if (name.empty())
    return false;
  struct stat now;
  if (lstat(path.c_str(), &now) == 0 && same_state(like, now) && rename(name.c_str(), path.c_str()) == 0)
    return true;
  unlink(name.c_str());
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
