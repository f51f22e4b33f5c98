#include "compiler.h"

#include "argv.h"
#include "files.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace perfcc {
namespace {

// The first page of an executable: its header, and the note that marks a launcher (marker.cpp).
std::string first_page(const std::string &path) {
  std::string page(4096, '\0');
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = fd.ok() ? read(fd.get(), page.data(), page.size()) : -1;
  page.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return page;
}

// Not written out whole, or whatever holds this code would look like a launcher.
bool has_marker(std::string_view page) {
  constexpr std::string_view half = "perfcc-laun";
  for (std::size_t at = page.find(half); at != std::string_view::npos; at = page.find(half, at + 1))
    if (page.substr(at + half.size(), 8) == std::string_view("cher-v1\0", 8))
      return true;
  return false;
}

Family family_of(std::string_view real, std::string_view page) {
  if (page.substr(0, 4) != "\177ELF")
    return Family::Unknown;
  const std::string_view base = base_name(real);
  if (base.starts_with("clang") || base.find("-clang") != std::string_view::npos)
    return Family::Clang;
  if (base.find("g++") != std::string_view::npos || base.find("gcc") != std::string_view::npos)
    return Family::Gcc;
  return Family::Unknown;
}

// Programs that stand on PATH under a compiler's name and run the next one of that name.
bool is_masquerade(std::string_view real) {
  const std::string_view base = base_name(real);
  return base == "ccache" || base == "distcc" || base == "icecc";
}

// One of their variables names another compiler than the next.
bool names_compiler() {
  for (const char *name : {"CCACHE_COMPILER", "CCACHE_CC", "CCACHE_PATH", "ICECC_CC", "ICECC_CXX"})
    if (std::getenv(name) != nullptr)
      return true;
  return false;
}

// The executables of one name on PATH.
class OnPath {
public:
  OnPath(std::string_view word, const std::string &cwd) : word_(word), cwd_(cwd) {
    const char *path = std::getenv("PATH");
    rest_ = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  }

  // The next of them; empty after the last.
  std::string next() {
    while (more_) {
      const std::size_t colon = rest_.find(':');
      const std::string_view entry = rest_.substr(0, colon);
      more_ = colon != std::string_view::npos;
      rest_ = more_ ? rest_.substr(colon + 1) : std::string_view();
      if (std::string candidate = (entry.empty() ? cwd_ : std::string(entry)) + "/" + std::string(word_);
          is_executable(candidate))
        return candidate;
    }
    return "";
  }

private:
  const std::string_view word_;
  const std::string &cwd_;
  std::string_view rest_;
  bool more_ = true;
};

// The first executable of that name on PATH; empty when there is none.
std::string find_program(std::string_view word, const std::string &cwd) {
  if (word.find('/') != std::string_view::npos)
    return is_executable(absolute(std::string(word), cwd)) ? std::string(word) : "";
  return OnPath(word, cwd).next();
}

// Fills in what the path leads to; false when it is no executable, or a launcher.
bool resolve(Compiler &compiler, const std::string &path) {
  if (!is_executable(path))
    return false;
  std::string real = real_path(path);
  struct stat status;
  if (real.empty() || stat(real.c_str(), &status) != 0)
    return false;
  const std::string page = first_page(real);
  if (has_marker(page))
    return false;
  compiler.path = path;
  compiler.family = family_of(real, page);
  compiler.real = std::move(real);
  compiler.status = status;
  return true;
}

} // namespace

std::string Compiler::identity() const {
  return real + '\0' + std::to_string(status.st_size) + '\0' + std::to_string(nanoseconds(status.st_mtim));
}

Compiler find_compiler(std::string_view word, const std::string &cwd, int nesting) {
  Compiler compiler;
  compiler.name = word;
  if (word.find('/') != std::string_view::npos) {
    if (resolve(compiler, std::string(word)) || !is_launcher(std::string(word)))
      return compiler;
    word = base_name(word); // a path to a launcher: the compiler of that name is meant
  }
  bool first = true;
  Compiler masquerade;
  OnPath path(word, cwd);
  for (std::string candidate = path.next(); !candidate.empty(); candidate = path.next()) {
    if (resolve(compiler, candidate)) {
      compiler.name = first ? std::string(word) : candidate;
      if (nesting <= 0 && is_masquerade(compiler.real) && !masquerade.found() && !names_compiler())
        masquerade = std::exchange(compiler, Compiler());
      else if (nesting-- <= 0)
        break;
    }
    first = false;
  }
  if (!masquerade.found())
    return compiler;
  if (!compiler.found())
    return masquerade;
  compiler.behind = std::exchange(compiler.path, masquerade.path);
  compiler.name = masquerade.name;
  return compiler;
}

bool put_behind(Compiler &compiler, std::string_view command, const std::string &cwd, std::vector<std::string> &words) {
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t end = std::min(command.find(' ', at), command.size());
    if (end > at)
      words.emplace_back(command.substr(at, end - at));
    at = end + 1;
  }
  std::string program = words.empty() ? "" : find_program(words[0], cwd);
  if (program.empty() || is_launcher(program)) {
    words.clear();
    return false;
  }
  compiler.behind = compiler.direct();
  compiler.path = std::move(program);
  return true;
}

bool cached_by_parent() {
  char name[256];
  const ssize_t length = readlink(("/proc/" + std::to_string(getppid()) + "/exe").c_str(), name, sizeof name);
  const std::string_view base = base_name(std::string_view(name, length > 0 ? static_cast<std::size_t>(length) : 0));
  return base == "ccache" || base == "sccache" || base == "buildcache";
}

bool is_program(std::string_view word, const std::string &cwd) {
  if (word.empty() || word[0] == '-' || word[0] == '@' || base_name(word).find('.') != std::string_view::npos)
    return false;
  struct stat status;
  if (word.find('/') == std::string_view::npos && stat(absolute(std::string(word), cwd).c_str(), &status) == 0)
    return false; // an input
  return !find_program(word, cwd).empty();
}

bool is_launcher(const std::string &path) {
  const std::string real = real_path(path);
  return !real.empty() && has_marker(first_page(real));
}

} // namespace perfcc
