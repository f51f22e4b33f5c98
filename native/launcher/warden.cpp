#include "warden.h"

#include "files.h"
#include "rescue.h"
#include "slots.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace perfcc {
namespace {

// Not -m: that would look for modules in the user's directory first. And without PYTHONPATH and the like: they are
// meant for the Python that drives the build, and pip's hide all that is installed beside perfcc.
constexpr const char *bootstrap = "import sys\n"
                                  "if sys.path and not sys.path[0]: del sys.path[0]\n"
                                  "import runpy\n"
                                  "runpy.run_module('perfcc', run_name='__main__', alter_sys=True)\n";

void run_python(const std::string &python, std::vector<const char *> arguments) {
  std::vector<const char *> argv = {python.c_str(), "-Ec", bootstrap};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  argv.push_back(nullptr);
  execute(python, const_cast<char *const *>(argv.data()));
}

[[noreturn]] void become_worker(const Signals &signals, const Worker &worker, int request, int log, pid_t warden) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != warden)
    _exit(1);
  dup2(request, 0);
  dup2(log, 1);
  dup2(log, 2);
  // A pipe of make's or of whoever waits for the end of our output must not be held open by something of ours.
  close_range(3, ~0U, 0);
  signal(SIGTTOU, SIG_IGN); // progress goes to the terminal from a background group
  signals.restore();
  if (chdir("/") != 0)
    _exit(1);
  run_python(worker.python, {"worker"});
  _exit(127);
}

// Ends every descendant; as their reaper this process gets each orphan as a child of its own.
void sweep(pid_t group) {
  kill(-group, SIGKILL);
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/task/%d/children", static_cast<int>(getpid()));
  for (int round = 0; round < 1000; ++round) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    char list[4096] = {};
    const Fd fd(open(name, O_RDONLY | O_CLOEXEC));
    if (!fd.ok() || read(fd.get(), list, sizeof list - 1) <= 0)
      return;
    for (char *word = std::strtok(list, " "); word != nullptr; word = std::strtok(nullptr, " "))
      if (const int child = std::atoi(word); child > 1)
        kill(child, SIGKILL);
    const struct timespec pause = {0, 1000000};
    nanosleep(&pause, nullptr);
  }
}

int remove_entry(const char *path, const struct stat *, int, struct FTW *) {
  remove(path);
  return 0;
}

// The folder that the worker could not take away itself, with the temporary files of the compilers it ran.
void remove_scratch(pid_t python) {
  const std::string root = temporary_folder();
  const std::string begin = "perfcc-" + std::to_string(python) + "-";
  DIR *folder = opendir(root.c_str());
  if (folder == nullptr)
    return;
  std::vector<std::string> left;
  while (const dirent *entry = readdir(folder))
    if (const std::string_view name = entry->d_name; name.starts_with(begin) && name.ends_with("-scratch"))
      left.push_back(root + "/" + entry->d_name);
  closedir(folder);
  struct stat status;
  for (const std::string &path : left)
    if (lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid())
      nftw(path.c_str(), remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

// Waits for a place. Whoever waits costs a build no more than this process; false when it is to stop, or the time is
// up.
bool wait_for_slot(const Signals &signals, long long deadline, Fd &slot) {
  constexpr long long pause = 20000000;
  while (!take_slot(slot))
    if (const int number = signals.wait(monotonic_nanoseconds() + pause);
        (number != 0 && number != SIGCHLD) || monotonic_nanoseconds() > deadline)
      return false;
  return true;
}

[[noreturn]] void become_warden(const Signals &signals, const Worker &worker, int request, int log, pid_t launcher) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (getppid() != launcher)
    _exit(static_cast<int>(WorkerEnd::Interrupted));
  rescue_ends();
  const long long limit = worker.limit * 1000000000LL;
  Fd slot;
  if (!wait_for_slot(signals, monotonic_nanoseconds() + limit, slot))
    _exit(static_cast<int>(WorkerEnd::TimedOut));
  const long long deadline = monotonic_nanoseconds() + limit;
  const pid_t warden = getpid();
  const pid_t python = fork();
  if (python == 0)
    become_worker(signals, worker, request, log, warden);
  if (python < 0)
    _exit(static_cast<int>(WorkerEnd::Failed));
  setpgid(python, python);
  dup2(log, 0);
  dup2(log, 1);
  dup2(log, 2);
  if (slot.ok() && slot.get() != 3) {
    dup2(slot.get(), 3);
    slot.reset(3);
  }
  close_range(slot.ok() ? 4 : 3, ~0U, 0);

  WorkerEnd end = WorkerEnd::TimedOut;
  for (bool running = true; running;) {
    const int number = signals.wait(deadline);
    if (number == 0)
      break;
    if (number != SIGCHLD) {
      end = WorkerEnd::Interrupted;
      break;
    }
    int status;
    for (pid_t ended = waitpid(-1, &status, WNOHANG); ended > 0; ended = waitpid(-1, &status, WNOHANG)) {
      if (ended != python)
        continue;
      end = status == 0 ? WorkerEnd::Done : WorkerEnd::Failed;
      running = false;
    }
  }
  sweep(python);
  if (end != WorkerEnd::Done)
    remove_scratch(python);
  _exit(static_cast<int>(end));
}

} // namespace

WorkerEnd run_worker(const Signals &signals, const Worker &worker, int &interrupted) {
  const Fd request(memfd_create("perfcc-request", MFD_CLOEXEC));
  const Fd nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!request.ok() || !nowhere.ok() || !write_all(request.get(), worker.request) ||
      lseek(request.get(), 0, SEEK_SET) != 0)
    return WorkerEnd::Failed;
  const pid_t launcher = getpid();
  const pid_t warden = fork();
  if (warden == 0)
    become_warden(signals, worker, request.get(), worker.log >= 0 ? worker.log : nowhere.get(), launcher);
  if (warden < 0)
    return WorkerEnd::Failed;
  for (;;) {
    const int number = signals.wait(0);
    if (number != SIGCHLD && number != 0) {
      interrupted = number;
      kill(warden, SIGTERM);
    }
    int status;
    if (waitpid(warden, &status, number == 0 ? 0 : WNOHANG) != warden)
      continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > static_cast<int>(WorkerEnd::Interrupted))
      return WorkerEnd::Failed;
    return static_cast<WorkerEnd>(WEXITSTATUS(status));
  }
}

std::string find_python() {
  if (const char *chosen = std::getenv("PERFCC_PYTHON"); chosen != nullptr && *chosen != '\0')
    return is_executable(chosen) ? absolute(chosen, working_directory()) : "";
  const std::string self = real_path("/proc/self/exe");
  for (const char *name : {"/python3", "/python"})
    if (const std::string beside = std::string(directory_of(self)) + name; is_executable(beside))
      return beside;
  const char *path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, colon)) + "/python3";
    if (candidate[0] == '/' && is_executable(candidate))
      return candidate;
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return "";
}

void execute_perfcc(const std::string &python, int argc, char **argv) {
  run_python(python, std::vector<const char *>(argv + 1, argv + argc));
}

} // namespace perfcc
