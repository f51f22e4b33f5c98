#include "relink.h"

#include "files.h"
#include "manifest.h"

#include <algorithm>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace perfcc {
namespace {

// A folder of this process's own. Workers remove those whose owner, told by the name, is gone.
std::string make_folder() {
  const std::string base = temporary_folder();
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::string path = base + "/perfcc-" + std::to_string(getpid()) + "-" + std::to_string(attempt) + "-scratch";
    if (mkdir(path.c_str(), 0700) == 0)
      return path;
  }
  return "";
}

} // namespace

std::string Relink::object_of(const Source &source) const {
  return folder_ + "/" + std::to_string(source.index) + ".o";
}

std::string Relink::expect(const Source &source) {
  if (folder_.empty())
    folder_ = make_folder();
  return folder_.empty() ? "" : object_of(source);
}

bool Relink::take(const Source &source, const std::string &store, const Digest &object) {
  std::string bytes;
  return read_stored(object_path(store, object), bytes) && blake2b(bytes) == object && !expect(source).empty() &&
         write_atomically(object_of(source), bytes);
}

// The user's words, each rewritten source replaced by its object, with another output and without dependency files.
std::vector<std::string> Relink::words(const std::string &output) const {
  std::vector<std::string> made = {command_.argv[0], "-o", output};
  for (const Piece &piece : command_.pieces) {
    if (piece.effect == Effect::Output || command_.depends(piece))
      continue;
    const Source *source = nullptr;
    for (const Source &candidate : command_.sources)
      if (candidate.index == piece.index && !object(candidate).empty())
        source = &candidate;
    const auto first = command_.argv.begin() + piece.index;
    if (source == nullptr)
      made.insert(made.end(), first, first + piece.length);
    else if (source->forced.empty())
      made.push_back(object_of(*source));
    else
      made.insert(made.end(), {"-x", "none", object_of(*source), "-x", source->forced});
  }
  return made;
}

// The driver's temporary files go to the folder as well, to be removed with it.
End Relink::run_quietly(const Signals &signals, const std::vector<std::string> &words) const {
  std::vector<char *> argv;
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  const Fd nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (nowhere.ok())
    return run_child(signals, compiler_.path, argv.data(), {{"TMPDIR", folder_}}, nowhere.get());
  End none;
  none.status = 127 << 8;
  return none;
}

int Relink::compile(const Signals &signals, const Source &source, std::vector<std::string> words) {
  const std::string object = expect(source);
  if (object.empty())
    return 0;
  words.insert(words.begin() + 1, {"-o", object});
  const End end = run_quietly(signals, words);
  if (!end.ok())
    unlink(object.c_str());
  return end.interrupted;
}

std::string Relink::object(const Source &source) const {
  return !folder_.empty() && is_regular(object_of(source)) ? object_of(source) : "";
}

bool Relink::wanted() const {
  return !folder_.empty() && std::any_of(command_.sources.begin(), command_.sources.end(),
                                         [&](const Source &source) { return !object(source).empty(); });
}

int Relink::run(const Signals &signals, const std::string &output, const struct stat &state, bool &installed) {
  installed = false;
  const std::string made = folder_ + "/program";
  const End end = run_quietly(signals, words(made));
  if (end.interrupted != 0)
    return end.interrupted;
  std::string bytes;
  // Somebody else may have written the output meanwhile.
  installed = end.ok() && read_file(made, bytes) && replace_file(output, bytes, state);
  return 0;
}

void Relink::clear() {
  if (folder_.empty())
    return;
  if (DIR *folder = opendir(folder_.c_str()); folder != nullptr) {
    while (const dirent *entry = readdir(folder))
      unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
  }
  rmdir(folder_.c_str());
  folder_.clear();
}

} // namespace perfcc
