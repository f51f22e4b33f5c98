// Which real compiler stands behind the launcher, and where.
#pragma once

#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace perfcc {

enum class Family { Unknown, Gcc, Clang };

struct Compiler {
  std::string path; // to execute, absolute unless the user gave a relative one; empty when there is none
  // Its argv[0]: as the user would have typed it, but its path where that name leads to something else first: GCC finds
  // its own parts by it.
  std::string name;
  std::string real; // with every symbolic link resolved
  Family family = Family::Unknown;
  struct stat status = {};

  bool found() const { return !path.empty(); }
  // Path, size and time of change of the file that runs.
  std::string identity() const;
};

// A name is looked up on PATH; launchers of perfcc (this one or any other) are skipped, and `nesting` candidates after
// that as long as others follow: a wrapper that calls back is left behind at the second try.
Compiler find_compiler(std::string_view word, const std::string &cwd, int nesting);

// The executable is a perfcc launcher.
bool is_launcher(const std::string &path);

} // namespace perfcc
