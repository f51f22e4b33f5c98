// Starting programs: only those that load the overlay too, or their outputs would land beside the original's.
#include "next.h"
#include "place.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <unistd.h>

namespace perfcc::overlay {
namespace {

#if defined(__x86_64__)
constexpr int own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int own_machine = EM_AARCH64;
#else
constexpr int own_machine = EM_NONE; // any
#endif

struct Page {
  alignas(16) char bytes[4096];
  std::size_t size = 0;
};

bool is_dynamic(const Page &page) {
  ElfW(Ehdr) header;
  if (page.size < sizeof header)
    return false;
  std::memcpy(&header, page.bytes, sizeof header);
  if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      (own_machine != EM_NONE && header.e_machine != own_machine) || header.e_phentsize != sizeof(ElfW(Phdr)))
    return false;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) row;
    const std::size_t at = header.e_phoff + i * sizeof row;
    if (at + sizeof row > page.size)
      return false;
    std::memcpy(&row, page.bytes + at, sizeof row);
    if (row.p_type == PT_INTERP)
      return true;
  }
  return false;
}

// The program will load the overlay, or can't be started at all.
bool follows(const char *path, int depth = 0) {
  Page page;
  struct stat status;
  const int fd = NEXT_AS(int (*)(const char *, int, ...), "open")(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT || errno == ENOTDIR;
  const ssize_t got = read(fd, page.bytes, sizeof page.bytes - 1);
  const bool plain = NEXT(fstat)(fd, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) == 0;
  close(fd);
  if (got < 4 || !plain)
    return false;
  page.size = static_cast<std::size_t>(got);
  if (std::memcmp(page.bytes, ELFMAG, SELFMAG) == 0)
    return is_dynamic(page);
  if (std::memcmp(page.bytes, "#!", 2) != 0 || depth > 3)
    return false;
  page.bytes[page.size] = '\0';
  char *name = page.bytes + 2;
  name += std::strspn(name, " \t");
  name[std::strcspn(name, " \t\n")] = '\0';
  return follows(name, depth + 1);
}

bool may_start(const char *path, char *const *environment) {
  if (!active())
    return true;
  bool told = false;
  for (char *const *entry = environment; entry != nullptr && *entry != nullptr; ++entry)
    told = told || std::strncmp(*entry, "PERFCC_OVERLAY=", 15) == 0;
  if (told && follows(path))
    return true;
  record(Event::Alien, path);
  errno = EACCES;
  return false;
}

// The file that execvp(3) finds on PATH; the name itself when there is none.
const char *on_path(const char *name, char (&found)[PATH_MAX]) {
  const char *path = std::getenv("PATH");
  if (std::strchr(name, '/') != nullptr || path == nullptr)
    return name;
  for (const char *entry = path;; ++entry) {
    const std::size_t length = std::strcspn(entry, ":");
    const std::size_t rest = std::strlen(name);
    if (length + rest + 2 < sizeof found) {
      std::memcpy(found, entry, length);
      found[length] = '/';
      std::memcpy(found + (length == 0 ? 0 : length + 1), name, rest + 1);
      if (NEXT(access)(found, X_OK) == 0)
        return found;
    }
    entry += length;
    if (*entry == '\0')
      return name;
  }
}

// The child of a vfork shares its parent's memory: what it calls is looked up before.
__attribute__((constructor)) void look_up() {
  next_address<"open">();
  next_address<"fstat">();
  next_address<"access">();
  next_address<"execve">();
  next_address<"execvpe">();
}

} // namespace

extern "C" {

int take_execve(const char *path, char *const *argv, char *const *environment) TAKES_OVER("execve");
int take_execve(const char *path, char *const *argv, char *const *environment) {
  return may_start(path, environment) ? NEXT(execve)(path, argv, environment) : -1;
}
int take_execv(const char *path, char *const *argv) TAKES_OVER("execv");
int take_execv(const char *path, char *const *argv) { return take_execve(path, argv, environ); }
int take_execvpe(const char *name, char *const *argv, char *const *environment) TAKES_OVER("execvpe");
int take_execvpe(const char *name, char *const *argv, char *const *environment) {
  char found[PATH_MAX];
  return may_start(on_path(name, found), environment) ? NEXT(execvpe)(name, argv, environment) : -1;
}
int take_execvp(const char *name, char *const *argv) TAKES_OVER("execvp");
int take_execvp(const char *name, char *const *argv) { return take_execvpe(name, argv, environ); }

int take_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
               const posix_spawnattr_t *attributes, char *const *argv, char *const *environment)
    TAKES_OVER("posix_spawn");
int take_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
               const posix_spawnattr_t *attributes, char *const *argv, char *const *environment) {
  return may_start(path, environment) ? NEXT(posix_spawn)(child, path, actions, attributes, argv, environment) : EACCES;
}
int take_spawnp(pid_t *child, const char *name, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const *argv, char *const *environment)
    TAKES_OVER("posix_spawnp");
int take_spawnp(pid_t *child, const char *name, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const *argv, char *const *environment) {
  char found[PATH_MAX];
  return may_start(on_path(name, found), environment)
             ? NEXT(posix_spawnp)(child, name, actions, attributes, argv, environment)
             : EACCES;
}

} // extern "C"

} // namespace perfcc::overlay
