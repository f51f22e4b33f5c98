#include "program.h"

#include "counters.h"
#include "files.h"
#include "json.h"
#include "key.h"
#include "manifest.h"
#include "original.h"
#include "prefilter.h"
#include "process.h"
#include "publish.h"
#include "relink.h"
#include "settings.h"
#include "unexplained.h"
#include "warden.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace perfcc {
namespace {

// One source of the command, as a unit of its own.
struct Member {
  const Source &source;
  std::string path; // absolute
  struct stat state = {};
  Settings settings;
  std::vector<std::string> key_argv;
  Digest key = {};
  Digest text = {};
  Loops loops = Loops::None;
  Manifest manifest;
  bool known = false;
  bool placed = false; // its object comes from the store, or nothing is to be done

  bool wants_worker() const { return !known && loops == Loops::Candidate; }

  bool unchanged() const {
    struct stat now;
    return stat(path.c_str(), &now) == 0 && same_state(state, now);
  }
};

class Program {
public:
  Program(const Command &command, const Compiler &compiler, char *const *argv, const std::string &cwd)
      : command_(command), compiler_(compiler), argv_(argv), cwd_(cwd), output_(absolute(command.output, cwd)),
        store_(load_settings(cwd).store) {}

  void build() {
    for (const Source &source : command_.sources)
      if (!add(source))
        return become_compiler("passed:source-unreadable");
    if (command_.held_back && members_.empty())
      return become_compiler("passed:" + std::string(command_.reason));
    if (members_.empty())
      return become_compiler("passed:mode-off");
    if (all([](const Member &member) { return member.known && member.manifest.verdict == Verdict::Nothing; }))
      return become_compiler("compiled:nothing-to-do");
    const std::string python = find_python();
    if (python.empty() && !all([](const Member &member) { return !member.wants_worker(); }))
      return become_compiler("compiled:no-python");

    const Signals signals;
    const long long started = now_nanoseconds();
    if (command_.links)
      record_link(store(), command_, cwd_);
    read_ = run_original(signals, compiler_, argv_, command_, cwd_, store());
    if (!read_.known)
      return count(store(), "compiled:no-dependencies");
    if (command_.links && !look_at_program())
      return count(store(), "compiled:no-output");
    Relink relink(command_, compiler_, cwd_);
    for (Member &member : members_)
      member.placed = member.known && still_valid(member) && place(member, relink);
    const bool stored = !all([](const Member &member) { return !member.placed; });
    const Loops loops = leave_alone_what_can_be(started, relink);
    std::string_view counter = stored                 ? "compiled:from-store"
                               : loops == Loops::None ? "compiled:no-loops"
                                                      : "compiled:no-kernels";
    if (!python.empty() && !all([](const Member &member) { return member.placed; })) {
      counter = "";
      const int signal = ask_worker(signals, python, request(relink), store());
      if (signal != 0) {
        relink.clear();
        end_interrupted(signal);
      }
    }
    if (command_.links && relink.wanted()) {
      bool installed = false;
      int signal = 0;
      if (complete(signals, relink, started, signal) && signal == 0)
        signal = relink.run(signals, output_, made_, installed);
      if (signal != 0) {
        count(store(), "compiled:interrupted");
        relink.clear();
        end_interrupted(signal);
      }
      count(store(), installed ? "linked:again" : "linked:not-again");
    }
    if (!counter.empty())
      count(store(), all([](const Member &member) { return member.placed; }) ? counter : "compiled:no-python");
    if (const int signal = much_ ? tidy(signals, cwd_, store()) : 0; signal != 0)
      end_interrupted(signal);
  }

private:
  // False when the source can't be read.
  bool add(const Source &source) {
    Member member{.source = source, .path = absolute(source.path, cwd_)};
    member.settings = load_settings_for(member.path);
    if (&source == &command_.sources.front())
      store_ = member.settings.store;
    std::string text;
    if (stat(member.path.c_str(), &member.state) != 0 || !read_file(member.path, text))
      return false;
    const bool identity = member.settings.mode == "identity";
    if (member.settings.mode == "off" || (!identity && command_.held_back))
      return true;
    member.loops = identity ? Loops::Candidate : loops_in(text, source.language == "c++");
    member.text = blake2b(text);
    // The list of files read is that of the whole command, so the verdict holds for this command alone.
    member.key_argv = command_.argv;
    member.key_argv.push_back(std::to_string(source.index));
    member.key = unit_key({member.key_argv, cwd_, compiler_.identity(), text, member.settings.content});
    member.known =
        read_manifest(member.settings.store, member.key, member.manifest) && still_holds(member.manifest, cwd_);
    members_.push_back(std::move(member));
    return true;
  }

  // Those in which there can be no kernel. What they hold, all together.
  Loops leave_alone_what_can_be(long long started, Relink &relink) {
    Loops found = Loops::None;
    for (Member &member : members_) {
      if (member.placed || member.loops == Loops::Candidate || !member.unchanged())
        continue;
      const bool cplusplus = member.source.language == "c++";
      member.loops = std::max(member.loops, loops_in_headers(read_, command_, cwd_, cplusplus));
      if (member.loops == Loops::Candidate)
        continue;
      found = std::max(found, member.loops);
      member.placed = true;
      const std::string output = command_.links ? output_ : absolute(member.source.output, cwd_);
      much_ |= leave_alone({member.settings.store, cwd_, member.key, member.text, read_, started, output,
                            command_.links ? member.path : ""},
                           member.loops, request_of(member, relink));
    }
    return found;
  }

  template <typename Test> bool all(Test test) const { return std::all_of(members_.begin(), members_.end(), test); }

  const std::string &store() const { return store_; }

  void become_compiler(std::string_view counter) {
    count(store(), counter);
    if (command_.links)
      record_link(store(), command_, cwd_);
    execute(compiler_.path, argv_);
    std::fprintf(stderr, "perfcc: %s: %s\n", compiler_.path.c_str(), std::strerror(errno));
    std::exit(126);
  }

  bool still_valid(const Member &member) const {
    return read_.names == member.manifest.dependencies && member.unchanged() && still_holds(member.manifest, cwd_);
  }

  // False when the output is no file.
  bool look_at_program() {
    std::string bytes;
    if (lstat(output_.c_str(), &made_) != 0 || !S_ISREG(made_.st_mode) || !read_file(output_, bytes))
      return false;
    original_ = blake2b(bytes);
    return true;
  }

  // The output of that source as the compiler left it.
  struct stat state_of(const Source &source) const {
    struct stat status = made_;
    if (!command_.links && lstat(absolute(source.output, cwd_).c_str(), &status) != 0)
      status = {};
    return status;
  }

  // Puts the stored object where it belongs; true as well where there is none to put.
  bool place(const Member &member, Relink &relink) {
    if (member.manifest.verdict == Verdict::Nothing)
      return true;
    const std::string &store = member.settings.store;
    if (command_.links)
      return member.manifest.original == original_ && relink.take(member.source, store, member.manifest.object);
    return publish(store, member.manifest, absolute(member.source.output, cwd_));
  }

  // Sources that were not rewritten have objects too, so that they are not compiled at each build once more. False when
  // a file has changed since the compile began: the program would be made of old and new ones.
  bool complete(const Signals &signals, Relink &relink, long long started, int &signal) {
    std::vector<const Member *> compiled;
    for (const Member &member : members_) {
      Manifest manifest;
      int index;
      if (!relink.object(member.source).empty() || (read_manifest(member.settings.store, plain_key(member), manifest) &&
                                                    relink.take(member.source, member.settings.store, manifest.object)))
        continue;
      if (signal = relink.compile(signals, member.source, alone(member.source, index, false)); signal != 0)
        return false;
      compiled.push_back(&member);
    }
    if (!compiled.empty() &&
        (!all([](const Member &member) { return member.unchanged(); }) || !older(read_, cwd_, started)))
      return false;
    for (const Member *member : compiled)
      if (std::string bytes; read_file(relink.object(member->source), bytes))
        keep(member->settings.store, plain_key(*member), bytes);
    return true;
  }

  // Whose object went into that very program.
  Digest plain_key(const Member &member) const {
    return blake2b(to_hex(member.key) + " as it is in " + to_hex(original_));
  }

  void keep(const std::string &store, const Digest &key, const std::string &bytes) const {
    Manifest manifest;
    manifest.verdict = Verdict::Object;
    manifest.object = blake2b(bytes);
    manifest.original = original_;
    manifest.recorded = now_nanoseconds();
    const std::string path = object_path(store, manifest.object);
    grow(store, bytes.size());
    if (make_directories(std::string(directory_of(path))) && write_atomically(path, bytes))
      write_manifest(store, key, manifest);
  }

  // The words of the command that compile this source alone, and write its dependency file or not.
  std::vector<std::string> alone(const Source &source, int &index, bool depends) const {
    std::vector<std::string> words = {command_.argv[0]};
    if (command_.links)
      words.push_back("-c");
    for (const Piece &piece : command_.pieces) {
      if (piece.input ? piece.index != source.index : command_.links && piece.effect == Effect::Output)
        continue;
      if (command_.depends(piece) && !depends)
        continue;
      if (piece.input)
        index = static_cast<int>(words.size());
      const auto first = command_.argv.begin() + piece.index;
      words.insert(words.end(), first, first + piece.length);
    }
    return words;
  }

  std::string request_of(const Member &member, Relink &relink) const {
    int index = 0;
    const std::vector<std::string> argv = alone(member.source, index, true);
    JsonObject object;
    object.add("version", "1")
        .add("argv", json_list(argv))
        .add("key_argv", json_list(member.key_argv))
        .add("compiler", json_string(absolute(compiler_.path, cwd_)))
        .add("family", compiler_.family == Family::Clang ? "\"clang\"" : "\"gcc\"")
        .add("cwd", json_string(cwd_))
        .add("source", json_string(member.source.path))
        .add("source_index", std::to_string(index))
        .add("output", json_string(member.source.output))
        .add("output_state", output_state(state_of(member.source)))
        .add("program", command_.links ? json_string(output_) : "null")
        .add("deliver", command_.links && !member.placed ? json_string(relink.expect(member.source)) : "null")
        .add("language", json_string(member.source.language))
        .add("depfile", member.source.depfile.empty() ? "null" : json_string(member.source.depfile))
        .add("key", json_string(to_hex(member.key)))
        .add("store", json_string(member.settings.store))
        .add("dependencies", json_list(read_.names))
        .add("dependencies_complete", command_.dependencies == Dependencies::User ? "false" : "true");
    return object.text();
  }

  std::string request(Relink &relink) const {
    std::string units;
    for (const Member &member : members_)
      if (!member.placed)
        units += (units.empty() ? "" : ", ") + request_of(member, relink);
    JsonObject object;
    object.add("version", "1").add("units", "[" + units + "]").add("tty", isatty(2) != 0 ? "true" : "false");
    return object.text();
  }

  const Command &command_;
  const Compiler &compiler_;
  char *const *argv_;
  const std::string &cwd_;
  const std::string output_;
  std::string store_;
  std::vector<Member> members_;
  FilesRead read_;
  bool much_ = false;     // the store has grown
  struct stat made_ = {}; // the program
  Digest original_ = {};
};

} // namespace

void build_program(const Command &command, const Compiler &compiler, char *const *argv, const std::string &cwd) {
  Program(command, compiler, argv, cwd).build();
}

} // namespace perfcc
