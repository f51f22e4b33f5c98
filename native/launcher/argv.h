// What a command line asks of the compiler: read only to decide, never rewritten.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perfcc {

enum class Dependencies { None, User, All }; // -MMD, -MD

struct Command {
  std::string_view reason;       // why it passes or is held back; empty when it is eligible
  std::string detail;            // the word that decided, where one did
  std::vector<std::string> argv; // with every @file expanded
  std::string source;            // as written
  int source_index = -1;         // in argv
  std::string output;            // as written or derived, relative to the working directory
  std::string language;          // "c" or "c++"
  std::string depfile;           // empty without -MD and -MMD
  Dependencies dependencies = Dependencies::None;
  std::vector<std::string> inputs; // every word that is not an option, as of a link line
  bool held_back = false;          // understood like an eligible one, source, output and all, but not to be rewritten

  bool eligible() const { return reason.empty(); }
};

// argv[0] is the compiler's name: g++ compiles .c files as C++. Relative paths are looked up in cwd.
Command classify(const std::vector<std::string> &argv, const std::string &cwd);

// The name is one that a C or C++ compiler goes by: gcc, g++-12, x86_64-linux-gnu-g++, clang++, cc, ...
bool is_compiler_name(std::string_view name);
// It compiles .c files as C++.
bool is_cplusplus_driver(std::string_view name);

std::string_view base_name(std::string_view path);

} // namespace perfcc
