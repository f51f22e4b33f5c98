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
  // Where `path` is a cache's or distributor's link in the compiler's name: the compiler that it will run itself. It
  // takes its orders from variables of its own, so ours can't make it list the files it reads.
  std::string behind;
  Family family = Family::Unknown;
  struct stat status = {};

  bool found() const { return !path.empty(); }
  const std::string &direct() const { return behind.empty() ? path : behind; }
  // Path, size and time of change of the file that runs.
  std::string identity() const;
};

// A name is looked up on PATH; launchers of perfcc (this one or any other) are skipped, and `nesting` candidates after
// that as long as others follow: a wrapper that calls back is left behind at the second try.
Compiler find_compiler(std::string_view word, const std::string &cwd, int nesting);

// Sets the compiler behind that command (PERFCC_PREFIX, as in "ccache"): `words` becomes what stands before its own
// argv. False when there is no such program.
bool put_behind(Compiler &compiler, std::string_view command, const std::string &cwd, std::vector<std::string> &words);

// The parent of this process is a cache that will keep what it is given.
bool cached_by_parent();

// The word is a program to run: not an option, a source, an object or a library.
bool is_program(std::string_view word, const std::string &cwd);

// The executable is a perfcc launcher.
bool is_launcher(const std::string &path);

} // namespace perfcc
