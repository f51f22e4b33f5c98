#include "rescue.h"

#include <csignal>
#include <unistd.h>

namespace perfcc {
namespace {

constexpr int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

const char *compiler_path = nullptr;
char *const *compiler_argv = nullptr;
int compiler_status = -1;
struct sigaction size_before = {}; // what SIGXFSZ did when this process began
bool size_ignored = false;

void dispose(void (*handler)(int)) {
  for (int number : fatal) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_NODEFER;
    sigaction(number, &action, nullptr);
  }
}

void heed_size() {
  if (size_ignored)
    sigaction(SIGXFSZ, &size_before, nullptr);
  size_ignored = false;
}

void on_fault(int number) {
  dispose(SIG_DFL);
  heed_size();
  if (compiler_status >= 0)
    _exit(compiler_status);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(compiler_path, compiler_argv);
  raise(number);
}

} // namespace

void rescue_by(const char *path, char *const *argv) {
  compiler_path = path;
  compiler_argv = argv;
  dispose(on_fault);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  size_ignored = sigaction(SIGXFSZ, &ignore, &size_before) == 0;
}

void rescue_with(int status) { compiler_status = status; }

void rescue_ends() {
  dispose(SIG_DFL);
  heed_size();
}

} // namespace perfcc
