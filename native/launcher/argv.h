// What a command line asks of the compiler: read only to decide, never rewritten.
#pragma once

#include "options.h"

#include <string>
#include <string_view>
#include <vector>

namespace perfcc {

enum class Dependencies { None, User, All }; // -MMD, -MD

// A C or C++ source among the inputs.
struct Source {
  std::string path;     // as written
  int index = -1;       // in argv
  std::string language; // "c" or "c++"
  std::string forced;   // of the -x in force, or empty
  std::string output;   // the object, as written or derived
  std::string depfile;  // empty without -MD and -MMD, and where the name depends on the compiler
};

// An option with its argument, or an input.
struct Piece {
  int index;  // in argv
  int length; // words
  Effect effect;
  bool input;
};

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
  bool links = false;              // it makes a program or library, not objects
  std::vector<Source> sources;     // of an eligible command; the first is also spelled out above
  std::vector<Piece> pieces;       // all of argv but its first word

  bool eligible() const { return reason.empty(); }
  // The option asks for a dependency file, or says how that is to look.
  bool depends(const Piece &piece) const;
  // One object from one source: what `source`, `output` and `depfile` say is all there is.
  bool single() const { return !links && sources.size() == 1; }
};

// argv[0] is the compiler's name: g++ compiles .c files as C++. Relative paths are looked up in cwd.
Command classify(const std::vector<std::string> &argv, const std::string &cwd);

// The name is one that a C or C++ compiler goes by: gcc, g++-12, x86_64-linux-gnu-g++, clang++, cc, ...
bool is_compiler_name(std::string_view name);
// It compiles .c files as C++.
bool is_cplusplus_driver(std::string_view name);

std::string_view base_name(std::string_view path);

} // namespace perfcc
