#include "counters.h"

#include "files.h"
#include "json.h"
#include "manifest.h"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace perfcc {
namespace {

constexpr off_t counters_part = 256 << 10;
constexpr off_t log_cap = 1 << 20;
constexpr std::size_t block = 4096;
constexpr off_t look_after = 1024; // blocks

// Opens for appending, making the folder if it isn't there yet.
Fd open_append(const std::string &path) {
  constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  Fd fd(open(path.c_str(), flags, 0666));
  if (!fd.ok() && make_directories(std::string(directory_of(path))))
    fd.reset(open(path.c_str(), flags, 0666));
  return fd;
}

off_t size_of(const Fd &fd) {
  struct stat status;
  return fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : -1;
}

} // namespace

void count(const std::string &store, std::string_view counter) {
  const std::string path = store + "/counters/log";
  Fd fd = open_append(path);
  if (fd.ok() && size_of(fd) > counters_part) {
    rename(path.c_str(), (path + "-" + std::to_string(now_nanoseconds())).c_str());
    fd = open_append(path);
  }
  if (fd.ok() && size_of(fd) >= 0)
    write_all(fd.get(), std::string(counter) + " 1\n");
}

void record_link(const std::string &store, const Command &command, const std::string &cwd) {
  const std::string output = absolute(command.output.empty() ? "a.out" : command.output, cwd);
  const std::string path = link_path(store, output);
  if (path.empty() || !make_directories(store + "/links"))
    return;
  JsonObject record;
  record.add("output", json_string(output)).add("cwd", json_string(cwd)).add("inputs", json_list(command.inputs));
  std::string known;
  if (read_stored(path, known) && known == record.text())
    return;
  grow(store, record.text().size());
  write_atomically(path, record.text());
}

bool grow(const std::string &store, std::size_t size) {
  const Fd grown = open_append(store + "/grown");
  if (!grown.ok())
    return false;
  const off_t before = size_of(grown);
  const std::size_t blocks = size / block + 1;
  return write_all(grown.get(), std::string(blocks, '.')) && before >= 0 &&
         before / look_after != (before + static_cast<off_t>(blocks)) / look_after;
}

int open_log(const std::string &store) {
  const std::string path = store + "/log";
  Fd fd = open_append(path);
  if (fd.ok() && size_of(fd) > log_cap) {
    rename(path.c_str(), (path + ".1").c_str());
    fd = open_append(path);
  }
  return fd.release();
}

} // namespace perfcc
