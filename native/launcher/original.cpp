#include "original.h"

#include "counters.h"
#include "depends.h"
#include "files.h"
#include "json.h"
#include "rescue.h"
#include "warden.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace perfcc {
namespace {

// Has the compiler list the files it reads in a file without a name, unless it writes a list of the user's already:
// the driver's own variables for it would be ignored then, or would change that list.
Fd watch_dependencies(const Command &command, Family family, Environment &report) {
  if (command.dependencies != Dependencies::None)
    return Fd();
  Fd list(memfd_create("perfcc-dependencies", 0));
  if (!list.ok())
    return list;
  const std::string name = "/proc/self/fd/" + std::to_string(list.get());
  if (access(name.c_str(), W_OK) != 0) // no /proc: the compiler could not open it either
    return Fd();
  if (family == Family::Clang) {
    report.emplace_back("CC_PRINT_HEADERS", "1");
    report.emplace_back("CC_PRINT_HEADERS_FILE", name);
  } else {
    report.emplace_back("SUNPRO_DEPENDENCIES", name);
  }
  return list;
}

// The dependency file's content. Beside a.out GCC prefixes its name, but not always: the newer file is this compile's.
bool read_depfile(const Source &source, const Command &command, Family family, const std::string &cwd,
                  std::string &text) {
  if (!source.depfile.empty() || !command.links)
    return read_file(absolute(source.depfile, cwd), text);
  const std::string name = source.output.substr(0, source.output.rfind('.')) + ".d";
  const std::string plain = absolute(name, cwd);
  const std::string prefixed = absolute("a-" + name, cwd);
  struct stat first, second;
  if (family != Family::Gcc || stat(prefixed.c_str(), &second) != 0)
    return read_file(plain, text);
  const bool newer = stat(plain.c_str(), &first) == 0 && nanoseconds(first.st_mtim) > nanoseconds(second.st_mtim);
  return read_file(newer ? plain : prefixed, text);
}

} // namespace

FilesRead run_original(const Signals &signals, const Compiler &compiler, char *const *argv, const Command &command,
                       const std::string &cwd, const std::string &store) {
  Environment report;
  const Fd list = watch_dependencies(command, compiler.family, report);
  const End end = run_child(signals, compiler.path, argv, report);
  if (!end.ok()) {
    count(store, end.interrupted != 0 ? "compiled:interrupted" : "compiled:failed");
    end_like(end);
  }
  rescue_with(0);
  FilesRead read;
  std::string text;
  if (list.ok() && read_descriptor(list.get(), text)) {
    read.known = true;
    read.names = compiler.family == Family::Clang ? parse_header_list(text) : parse_make_rule(text);
  } else if (command.dependencies != Dependencies::None) {
    std::string rules;
    read.known = true;
    for (const Source &source : command.sources) {
      read.known = read_depfile(source, command, compiler.family, cwd, text) && read.known;
      rules += text + "\n";
    }
    read.names = parse_make_rule(rules);
  }
  std::erase_if(read.names, [&](const std::string &name) {
    return std::any_of(command.sources.begin(), command.sources.end(),
                       [&](const Source &source) { return source.path == name; });
  });
  return read;
}

namespace {

WorkerEnd run_python_worker(const Signals &signals, const std::string &python, std::string request,
                            const std::string &store, int &interrupted) {
  Worker worker;
  worker.python = python;
  worker.request = std::move(request);
  worker.log = make_directories(store) ? open_log(store) : -1;
  if (const char *limit = std::getenv("PERFCC_WORKER_LIMIT"); limit != nullptr && std::atol(limit) > 0)
    worker.limit = std::atol(limit);
  return run_worker(signals, worker, interrupted);
}

} // namespace

int tidy(const Signals &signals, const std::string &cwd, const std::string &store) {
  JsonObject request;
  request.add("version", "1").add("clean", "true").add("cwd", json_string(cwd)).add("store", json_string(store));
  int interrupted = 0;
  if (const std::string python = find_python(); !python.empty())
    run_python_worker(signals, python, request.text(), store, interrupted);
  return interrupted;
}

int ask_worker(const Signals &signals, const std::string &python, std::string request, const std::string &store) {
  int interrupted = 0;
  const WorkerEnd end = run_python_worker(signals, python, std::move(request), store, interrupted);
  count(store, interrupted != 0             ? "compiled:interrupted"
               : end == WorkerEnd::Done     ? "compiled:searched"
               : end == WorkerEnd::TimedOut ? "compiled:worker-timed-out"
                                            : "compiled:worker-failed");
  return interrupted;
}

std::string output_state(const struct stat &status) {
  return json_list(
      {std::to_string(status.st_size), std::to_string(nanoseconds(status.st_mtim)), std::to_string(status.st_ino)});
}

void end_interrupted(int signal) {
  End stop;
  stop.interrupted = signal;
  end_like(stop);
}

} // namespace perfcc
