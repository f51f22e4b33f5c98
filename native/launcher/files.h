// The file system, as the launcher needs it: no call here reports an error beyond "it did not work".
#pragma once

#include <string>
#include <string_view>
#include <sys/stat.h>

namespace perfcc {

constexpr std::size_t max_file = std::size_t(1) << 30;

// A file descriptor that closes itself.
class Fd {
public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd &&other) noexcept : fd_(other.release()) {}
  Fd &operator=(Fd &&other) noexcept {
    reset(other.release());
    return *this;
  }
  Fd(const Fd &) = delete;
  Fd &operator=(const Fd &) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1);

private:
  int fd_;
};

std::string absolute(std::string_view path, std::string_view cwd);
std::string real_path(const std::string &path); // empty when it has none
std::string working_directory();
std::string temporary_folder();
std::string_view directory_of(std::string_view path); // "." for a bare name

bool read_file(const std::string &path, std::string &text);
bool read_descriptor(int fd, std::string &text);
// As read_file, for what lies in the store: marks it as used, at most once an hour.
bool read_stored(const std::string &path, std::string &text);
bool write_all(int fd, std::string_view bytes);
bool make_directories(const std::string &path);
// A temporary file beside it, then a rename: a reader sees the old content or the new.
bool write_atomically(const std::string &path, std::string_view bytes);
// Puts the bytes in the place of the regular file there, if it still is what `like` tells; mode and times stay. The new
// content has no name until it is whole, so that nothing is left behind whenever this process is killed.
bool replace_file(const std::string &path, std::string_view bytes, const struct stat &like);
bool is_regular(const std::string &path);
bool is_executable(const std::string &path);
bool same_state(const struct stat &a, const struct stat &b); // size, times and identity

long long nanoseconds(const struct timespec &time);
long long now_nanoseconds();

} // namespace perfcc
