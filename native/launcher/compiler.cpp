#include "compiler.h"

#include "argv.h"
#include "files.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

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
  const char *path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (bool more = true; more;) {
    const std::size_t colon = rest.find(':');
    const std::string_view entry = rest.substr(0, colon);
    more = colon != std::string_view::npos;
    rest = more ? rest.substr(colon + 1) : std::string_view();
    const std::string candidate = (entry.empty() ? cwd : std::string(entry)) + "/" + std::string(word);
    if (!is_executable(candidate))
      continue;
    if (resolve(compiler, candidate)) {
      compiler.name = first ? std::string(word) : candidate;
      if (nesting-- <= 0)
        break;
    }
    first = false;
  }
  return compiler;
}

bool is_launcher(const std::string &path) {
  const std::string real = real_path(path);
  return !real.empty() && has_marker(first_page(real));
}

} // namespace perfcc
