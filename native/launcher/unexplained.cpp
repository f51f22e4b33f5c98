#include "unexplained.h"

#include "counters.h"
#include "files.h"
#include "json.h"
#include "manifest.h"

#include <algorithm>
#include <iterator>
#include <unistd.h>

namespace perfcc {
namespace {

constexpr std::string_view system_folders[] = {"/usr/include", "/usr/local/include"};
// File times come from a clock that may be some milliseconds behind.
constexpr long long clock_grain = 20'000'000;

// The directories that the command line gives to system headers.
std::vector<std::string_view> system_folders_of(const std::vector<std::string> &argv) {
  std::vector<std::string_view> folders;
  for (std::size_t i = 1; i < argv.size(); ++i)
    for (const std::string_view option : {"-isystem", "-idirafter"})
      if (std::string_view word = argv[i]; word.starts_with(option)) {
        word.remove_prefix(option.size());
        if (word.empty() && i + 1 < argv.size())
          word = argv[++i];
        while (word.ends_with('/'))
          word.remove_suffix(1);
        folders.push_back(word);
        break;
      }
  return folders;
}

// A C++ library's or compiler's own, wherever it is installed: .../c++/12/..., .../lib/gcc/...
bool is_compilers_own(std::string_view path) {
  constexpr std::string_view library = "/c++/";
  if (const std::size_t at = path.find(library); at != std::string_view::npos) {
    const std::string_view version = path.substr(at + library.size());
    if (!version.empty() && ((version[0] >= '0' && version[0] <= '9') || version[0] == 'v'))
      return true;
  }
  return path.find("/lib/gcc/") != std::string_view::npos || path.find("/lib/clang/") != std::string_view::npos;
}

bool is_system_header(std::string_view path, const std::vector<std::string_view> &given) {
  const auto holds = [&](std::string_view folder) {
    return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
  };
  return is_compilers_own(path) || std::any_of(std::begin(system_folders), std::end(system_folders), holds) ||
         std::any_of(given.begin(), given.end(),
                     [&](std::string_view folder) { return !folder.empty() && holds(folder); });
}

// The key under which perfcc/store/disk.py keeps the outcome; empty when there is no such output.
std::string outcome_key(const Unexplained &unit) {
  const std::string real = real_path(unit.output);
  if (real.empty())
    return "";
  Blake2b hash;
  hash.field("output");
  hash.field(real);
  if (!unit.member.empty())
    hash.field(real_path(unit.member));
  return to_hex(hash.finish());
}

// The files' hashes are left out where their state alone will tell a change: a changed state means another look.
bool keep_nothing(const Unexplained &unit) {
  Manifest manifest;
  manifest.verdict = Verdict::Nothing;
  manifest.recorded = now_nanoseconds();
  manifest.dependencies = unit.read.names;
  for (const std::string &path : unit.read.names) {
    FileRecord record;
    if (!record_state(path, unit.cwd, manifest.recorded, record) ||
        std::max(record.mtime, record.ctime) >= unit.started - clock_grain)
      return false;
    manifest.files.push_back(std::move(record));
  }
  const bool much = grow(unit.store, 200 * manifest.files.size());
  write_manifest(unit.store, unit.key, manifest);
  return much;
}

} // namespace

bool older(const FilesRead &read, const std::string &cwd, long long started) {
  return std::all_of(read.names.begin(), read.names.end(), [&](const std::string &name) {
    struct stat status;
    return stat(absolute(name, cwd).c_str(), &status) == 0 &&
           std::max(nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)) < started - clock_grain;
  });
}

Loops loops_in_headers(const FilesRead &read, const Command &command, const std::string &cwd, bool cplusplus) {
  const std::vector<std::string_view> given = system_folders_of(command.argv);
  Loops found = Loops::None;
  for (const std::string &name : read.names) {
    std::string text;
    if (!is_system_header(name, given) && read_file(absolute(name, cwd), text))
      found = std::max(found, loops_in(text, cplusplus));
    if (found == Loops::Candidate)
      break;
  }
  return found;
}

bool leave_alone(const Unexplained &unit, Loops loops, const std::string &request) {
  bool much = unit.read.known && keep_nothing(unit);
  const std::string key = outcome_key(unit);
  if (key.empty())
    return much;
  const std::string path = unit.store + "/outputs/" + key.substr(0, 2) + "/" + key.substr(2) + ".json";
  if (loops == Loops::None) {
    unlink(path.c_str());
    return much;
  }
  if (!make_directories(std::string(directory_of(path))))
    return much;
  JsonObject note;
  note.add("request", request)
      .add("text", json_string(to_hex(unit.text)))
      .add("recorded", std::to_string(now_nanoseconds()));
  // Sealed as perfcc/store/files.py does it.
  const std::string body = note.text();
  const Digest checksum = blake2b("outputs " + key + '\0' + body);
  const std::string content = "perfcc-store 2 " + to_hex(checksum) + "\n" + body;
  much = grow(unit.store, content.size()) || much;
  write_atomically(path, content);
  return much;
}

} // namespace perfcc
