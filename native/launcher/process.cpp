#include "process.h"

#include "rescue.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace perfcc {

Signals::Signals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL; // a child's status would be lost if SIGCHLD came ignored from the parent
  sigaction(SIGCHLD, &action, &child_before_);
  sigemptyset(&held_);
  sigaddset(&held_, SIGCHLD);
  for (int number : {SIGINT, SIGQUIT, SIGTERM,
                     SIGHUP}) // one that is ignored, as under nohup, would reach us all the same if it were held
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&held_, number);
  sigprocmask(SIG_BLOCK, &held_, &before_);
}

void Signals::restore() const {
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::wait(long long deadline) const {
  for (;;) {
    int number;
    if (deadline == 0) {
      number = sigwaitinfo(&held_, nullptr);
    } else {
      const long long left = deadline - monotonic_nanoseconds();
      if (left <= 0)
        return 0;
      const struct timespec time = {left / 1000000000, static_cast<long>(left % 1000000000)};
      number = sigtimedwait(&held_, nullptr, &time);
    }
    if (number > 0)
      return number;
    if (errno != EINTR)
      return 0;
  }
}

long long monotonic_nanoseconds() {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<long long>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

void execute(const std::string &path, char *const *argv) {
  rescue_ends();
  execv(path.c_str(), argv);
  if (errno != ENOEXEC)
    return;
  // A script that does not say by what it is run, as shells do it.
  const std::string shell = "/bin/sh";
  std::vector<char *> words = {const_cast<char *>(shell.c_str()), const_cast<char *>(path.c_str())};
  for (char *const *word = argv + 1; argv[0] != nullptr && *word != nullptr; ++word)
    words.push_back(*word);
  words.push_back(nullptr);
  execv(shell.c_str(), words.data());
}

End run_child(const Signals &signals, const std::string &path, char *const *argv, const Environment &environment,
              int stdio) {
  End end;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    // A compiler that outlives this process might write its object over that of the next compile.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
      _exit(127);
    for (const auto &[name, value] : environment)
      setenv(name, value.c_str(), 1);
    for (int fd = 0; stdio >= 0 && fd < 3; ++fd)
      dup2(stdio, fd);
    if (stdio >= 0)
      setpgid(0, 0);
    signals.restore();
    execute(path, argv);
    if (stdio < 0)
      std::fprintf(stderr, "perfcc: %s: %s\n", path.c_str(), std::strerror(errno));
    _exit(126);
  }
  if (child < 0) {
    if (stdio < 0) { // no room for a process of our own beside the compiler's
      signals.restore();
      execute(path, argv);
    }
    end.status = 127 << 8;
    return end;
  }
  if (stdio >= 0)
    setpgid(child, child);
  for (;;) {
    const int number = signals.wait(0);
    if (number != SIGCHLD && number != 0) {
      end.interrupted = number;
      kill(stdio >= 0 ? -child : child, number);
    }
    if (waitpid(child, &end.status, number == 0 ? 0 : WNOHANG) != child)
      continue;
    if (stdio >= 0 && end.interrupted != 0)
      kill(-child, SIGKILL);
    return end;
  }
}

void end_like(const End &end) {
  int number = end.interrupted;
  if (number == 0) {
    if (WIFEXITED(end.status))
      exit(WEXITSTATUS(end.status));
    number = WTERMSIG(end.status);
    const struct rlimit none = {0, 0}; // the child has left a core already, if any is wanted
    setrlimit(RLIMIT_CORE, &none);
  }
  rescue_ends();
  signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
  exit(128 + number);
}

} // namespace perfcc
