#include "control.h"

#include "next.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace perfcc::overlay {
namespace {

enum class State { Unknown, Off, On };

State state = State::Unknown;
Control *control = nullptr;
const char *scratch_path = "";
const char *out_path = "";
Source sources[max_sources];
std::size_t source_count = 0;

[[noreturn]] void give_up(const char *why) {
  constexpr char head[] = "perfcc-overlay: ";
  if (write(2, head, sizeof head - 1) < 0 || write(2, why, std::strlen(why)) < 0 || write(2, "\n", 1) < 0)
    _exit(126);
  _exit(125);
}

const char *after(const char *text) { return text + std::strlen(text) + 1; }

void load(const char *name) {
  const int fd = NEXT(open)(name, O_RDWR | O_CLOEXEC);
  if (fd < 0)
    give_up("the control file can't be opened");
  void *place = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  struct stat status;
  if (place == MAP_FAILED || NEXT(fstat)(fd, &status) != 0 || status.st_size != static_cast<off_t>(sizeof(Control)))
    give_up("the control file can't be mapped");
  close(fd);
  control = static_cast<Control *>(place);
  if (std::memcmp(control->magic, magic, sizeof magic) != 0)
    give_up("the control file is of another version");
  const char *at = control->map;
  scratch_path = at;
  out_path = at = after(at);
  for (at = after(at); *at != '\0'; at = after(sources[source_count++].copy)) {
    if (source_count == max_sources)
      give_up("too many sources");
    Source &source = sources[source_count];
    source.path = at;
    source.copy = after(at);
    if (NEXT(stat)(source.path, &source.original) != 0 || NEXT(stat)(source.copy, &source.copied) != 0)
      give_up("a source or its copy is missing");
  }
}

std::size_t flag_of(const char *base) {
  std::uint32_t hash = 2166136261U; // FNV-1a
  for (; *base != '\0'; ++base)
    hash = (hash ^ static_cast<unsigned char>(*base)) * 16777619U;
  return (hash ^ hash >> 16) % flag_count;
}

bool same_file(const struct stat &a, const struct stat &b) { return a.st_ino == b.st_ino && a.st_dev == b.st_dev; }

__attribute__((constructor)) void start() { active(); }

} // namespace

bool active() {
  if (state == State::Unknown) {
    // Before anything that might come back here.
    state = State::Off;
    if (const char *name = std::getenv("PERFCC_OVERLAY"); name != nullptr && *name != '\0') {
      load(name);
      state = State::On;
    }
  }
  return state == State::On;
}

const char *scratch() { return scratch_path; }
const char *out() { return out_path; }

const Source *source_of(const struct stat &status) {
  for (std::size_t i = 0; i < source_count; ++i)
    if (same_file(sources[i].original, status))
      return &sources[i];
  return nullptr;
}

const Source *source_of_copy(const struct stat &status) {
  for (std::size_t i = 0; i < source_count; ++i)
    if (same_file(sources[i].copied, status))
      return &sources[i];
  return nullptr;
}

const Source *source_of_copy(const char *path, std::size_t length) {
  for (std::size_t i = 0; i < source_count; ++i)
    if (std::strlen(sources[i].copy) == length && std::memcmp(sources[i].copy, path, length) == 0)
      return &sources[i];
  return nullptr;
}

void record(Event event, const char *name) {
  const std::size_t size = std::strlen(name) + 2;
  const std::uint32_t at = __atomic_fetch_add(&control->used, static_cast<std::uint32_t>(size), __ATOMIC_RELAXED);
  if (at + size > log_size) {
    control->overflow = 1;
    return;
  }
  control->log[at] = static_cast<char>(event);
  std::memcpy(control->log + at + 1, name, size - 1);
}

void mark_written(const char *base) { control->flags[flag_of(base)] = 1; }
bool maybe_written(const char *base) { return control->flags[flag_of(base)] != 0; }

} // namespace perfcc::overlay
