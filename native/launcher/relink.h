// The link of a one-step command, made again with the objects of the sources that were rewritten.
#pragma once

#include "argv.h"
#include "blake2b.h"
#include "compiler.h"
#include "process.h"

#include <string>
#include <sys/stat.h>
#include <vector>

namespace perfcc {

class Relink {
public:
  Relink(const Command &command, const Compiler &compiler, const std::string &cwd)
      : command_(command), compiler_(compiler), cwd_(cwd) {}
  ~Relink() { clear(); }
  Relink(const Relink &) = delete;
  Relink &operator=(const Relink &) = delete;

  // Uses the stored object for that source; false when it isn't whole.
  bool take(const Source &source, const std::string &store, const Digest &object);
  // Where to put an object for that source, to be used if it is there when the link is run; empty when there is no
  // room.
  std::string expect(const Source &source);
  // Compiles the source with these words, for which that object is the output. The signal that told this process to
  // stop, or 0.
  int compile(const Signals &signals, const Source &source, std::vector<std::string> words);
  // The source's object, empty where none has come.
  std::string object(const Source &source) const;
  // An object has come for at least one source.
  bool wanted() const;
  // Links and puts the program in place of `output`, provided it is still the file in that state; it takes over its
  // mode and times. `installed` tells whether that was done. The signal that told this process to stop, or 0.
  int run(const Signals &signals, const std::string &output, const struct stat &state, bool &installed);
  // Removes all that lies in the temporary folder, and the folder.
  void clear();

private:
  End run_quietly(const Signals &signals, const std::vector<std::string> &words) const;
  std::string object_of(const Source &source) const;
  std::vector<std::string> words(const std::string &output) const;

  const Command &command_;
  const Compiler &compiler_;
  const std::string &cwd_;
  std::string folder_;
};

} // namespace perfcc
