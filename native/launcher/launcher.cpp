#include "launcher.h"

#include "argv.h"
#include "compiler.h"
#include "counters.h"
#include "files.h"
#include "json.h"
#include "key.h"
#include "manifest.h"
#include "original.h"
#include "prefilter.h"
#include "process.h"
#include "program.h"
#include "publish.h"
#include "rescue.h"
#include "settings.h"
#include "unexplained.h"
#include "warden.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace perfcc {
namespace {

constexpr const char *depth_variable = "PERFCC_DEPTH";
constexpr int max_depth = 16;
constexpr const char *verbs[] = {"--explain", "--doctor", "--stats", "--tune", "--record",
                                 "--profile", "--freeze", "--train", "--clean"};

// Variables by which a user has the compiler itself report the files it read: ours would take their place.
constexpr const char *report_variables[] = {"DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "CC_PRINT_HEADERS",
                                            "CC_PRINT_HEADERS_FILE"};

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_verb(std::string_view word) { return std::find(std::begin(verbs), std::end(verbs), word) != std::end(verbs); }

// The compiler's name and where its arguments start.
struct Call {
  std::string word;
  int first = 1;
};

Call read_call(std::string_view name, int argc, char **argv, const std::string &cwd) {
  if (name.starts_with("perfcc-")) {
    const std::string word(name.substr(std::strlen("perfcc-")));
    const std::string chosen = word == "gcc" ? environment("PERFCC_CC") : "";
    return {chosen.empty() ? word : chosen};
  }
  if (name != "perfcc" && is_compiler_name(name))
    return {std::string(name)};
  if (argc > 1 && (is_compiler_name(base_name(argv[1])) || (name == "perfcc" && is_program(argv[1], cwd))))
    return {argv[1], 2};
  const std::string chosen = environment("PERFCC_CXX");
  return {chosen.empty() ? "g++" : chosen};
}

// What CMake looks for beside a compiler, under its prefix, to make archives of objects for link-time optimisation.
bool is_archiver(std::string_view word) {
  const std::string_view base = base_name(word);
  return base.starts_with("gcc-ar") || base.starts_with("gcc-ranlib") || base.starts_with("gcc-nm");
}

int complain(const std::string &what, int status) {
  std::fprintf(stderr, "perfcc: %s\n", what.c_str());
  return status;
}

// One eligible compile, or one held back.
class Unit {
public:
  Unit(const Command &command, const Compiler &compiler, char *const *argv, std::string cwd)
      : command_(command), compiler_(compiler), argv_(argv), cwd_(std::move(cwd)),
        source_(absolute(command.source, cwd_)), output_(absolute(command.output, cwd_)) {}

  // Becomes the compiler where nothing is to be done after it.
  void build() {
    settings_ = load_settings_for(source_);
    std::string text;
    const bool identity = settings_.mode == "identity";
    if (settings_.mode == "off")
      return become_compiler("passed:mode-off");
    if (command_.held_back && !identity)
      return become_compiler("passed:" + std::string(command_.reason));
    if (stat(source_.c_str(), &source_state_) != 0 || !read_file(source_, text))
      return become_compiler("passed:source-unreadable");
    Loops loops = identity ? Loops::Candidate : loops_in(text, is_cplusplus());

    key_ = unit_key({command_.argv, cwd_, compiler_.identity(), text, settings_.content});
    Manifest manifest;
    const bool known = read_manifest(settings_.store, key_, manifest) && still_holds(manifest, cwd_);
    if (known && manifest.verdict == Verdict::Nothing)
      return become_compiler("compiled:nothing-to-do");
    if (!known && loops == Loops::Candidate && find_python().empty())
      return become_compiler("compiled:no-python");

    const Signals signals;
    const long long started = now_nanoseconds();
    read_ = run_original(signals, compiler_, argv_, command_, cwd_, settings_.store);
    if (known && read_.names == manifest.dependencies && source_unchanged() && still_holds(manifest, cwd_) &&
        publish(settings_.store, manifest, output_))
      return count(settings_.store, "compiled:from-store");
    if (loops != Loops::Candidate)
      loops = std::max(loops, loops_in_headers(read_, command_, cwd_, is_cplusplus()));
    if (loops == Loops::Candidate || !source_unchanged())
      return search(signals);
    const bool much =
        leave_alone({settings_.store, cwd_, key_, blake2b(text), read_, started, output_, ""}, loops, request());
    count(settings_.store, loops == Loops::None ? "compiled:no-loops" : "compiled:no-kernels");
    if (const int signal = much ? tidy(signals, cwd_, settings_.store) : 0; signal != 0)
      end_interrupted(signal);
  }

private:
  void become_compiler(std::string_view counter) {
    count(settings_.store, counter);
    execute(compiler_.path, argv_);
    std::exit(complain(compiler_.path + ": " + std::strerror(errno), 126));
  }

  bool source_unchanged() const {
    struct stat now;
    return stat(source_.c_str(), &now) == 0 && same_state(source_state_, now);
  }

  bool is_cplusplus() const { return command_.language == "c++"; }

  void search(const Signals &signals) {
    if (lstat(output_.c_str(), &output_state_) != 0 || !S_ISREG(output_state_.st_mode))
      return count(settings_.store, "compiled:no-output");
    const std::string python = find_python();
    if (python.empty())
      return count(settings_.store, "compiled:no-python");
    if (const int signal = ask_worker(signals, python, request(), settings_.store); signal != 0)
      end_interrupted(signal);
  }

  std::string request() const {
    JsonObject object;
    object.add("version", "1")
        .add("argv", json_list(command_.argv))
        .add("compiler", json_string(absolute(compiler_.direct(), cwd_)))
        .add("family", compiler_.family == Family::Clang ? "\"clang\"" : "\"gcc\"")
        .add("cwd", json_string(cwd_))
        .add("source", json_string(command_.source))
        .add("source_index", std::to_string(command_.source_index))
        .add("output", json_string(command_.output))
        .add("output_state", output_state(output_state_))
        .add("language", json_string(command_.language))
        .add("depfile", command_.depfile.empty() ? "null" : json_string(command_.depfile))
        .add("key", json_string(to_hex(key_)))
        .add("store", json_string(settings_.store))
        .add("dependencies", json_list(read_.names))
        .add("dependencies_complete", command_.dependencies == Dependencies::User ? "false" : "true")
        .add("tty", isatty(2) != 0 ? "true" : "false");
    return object.text();
  }

  const Command &command_;
  const Compiler &compiler_;
  char *const *argv_;
  const std::string cwd_;
  const std::string source_;
  const std::string output_;
  Settings settings_;
  struct stat source_state_ = {};
  struct stat output_state_ = {};
  Digest key_ = {};
  FilesRead read_;
};

bool reports_dependencies() {
  return std::any_of(std::begin(report_variables), std::end(report_variables),
                     [](const char *name) { return std::getenv(name) != nullptr; });
}

// A file that we open would become the compiler's standard input or output, or take one of the few it may have.
bool lacks_descriptor() {
  constexpr rlim_t plenty = 32;
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < plenty)
    return true;
  for (int fd = 0; fd < 3; ++fd)
    if (fcntl(fd, F_GETFD) < 0)
      return true;
  return false;
}

// Why a command that is understood passes all the same, or nullptr.
const char *obstacle(const Compiler &compiler, const Command &command) {
  if (compiler.family == Family::Unknown)
    return "unknown-compiler";
  if (reports_dependencies() || lacks_descriptor())
    return "environment";
  // Nothing can be asked of a compiler behind a cache but what the user asks for himself.
  if (!compiler.behind.empty() && (!command.single() || command.dependencies == Dependencies::None))
    return "unknown-compiler";
  return cached_by_parent() ? "cached" : nullptr;
}

} // namespace

int launch(int argc, char **argv) {
  const std::string_view name = argc > 0 ? base_name(argv[0]) : std::string_view("perfcc");
  if (name.starts_with("perfcc") && argc > 1 && is_verb(argv[1])) {
    const std::string python = find_python();
    if (!python.empty())
      execute_perfcc(python, argc, argv);
    return complain(std::string(argv[1]) + " needs Python 3.10 or newer with perfcc installed; set PERFCC_PYTHON to it",
                    127);
  }

  const int depth = std::atoi(environment(depth_variable).c_str());
  if (depth >= max_depth)
    return complain("the compiler found on PATH leads back to perfcc", 127);
  const std::string cwd = working_directory();
  const Call call = read_call(name, argc, argv, cwd);
  Compiler compiler = find_compiler(call.word, cwd, depth);
  if (!compiler.found())
    return complain(call.word + ": command not found", 127);

  std::vector<std::string> prefix;
  if (depth == 0 && !is_archiver(call.word))
    put_behind(compiler, environment("PERFCC_PREFIX"), cwd, prefix);
  std::vector<char *> line;
  for (std::string &word : prefix)
    line.push_back(word.data());
  line.push_back(compiler.name.data());
  line.insert(line.end(), argv + std::min(call.first, argc), argv + argc + 1);
  setenv(depth_variable, std::to_string(depth + 1).c_str(), 1);
  rescue_by(compiler.path.c_str(), line.data());

  if (depth == 0 && !is_archiver(call.word) && environment("PERFCC_MODE") != "off" && !cwd.empty()) {
    const auto own = line.begin() + static_cast<std::ptrdiff_t>(prefix.size());
    Command command = classify(std::vector<std::string>(own, line.end() - 1), cwd);
    bool understood = command.eligible() || command.held_back;
    if (const char *reason = understood ? obstacle(compiler, command) : nullptr; reason != nullptr) {
      command.reason = reason;
      understood = false;
    }
    if (understood && command.single()) {
      Unit(command, compiler, line.data(), cwd).build();
      return 0;
    }
    if (understood) {
      build_program(command, compiler, line.data(), cwd);
      return 0;
    }
    const Settings settings = load_settings(cwd);
    count(settings.store, "passed:" + std::string(command.reason));
    if (command.links)
      record_link(settings.store, command, cwd);
  }
  execute(compiler.path, line.data());
  return complain(compiler.path + ": " + std::strerror(errno), 126);
}

} // namespace perfcc
