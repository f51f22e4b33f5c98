#include "rescue.h"

#include <csignal>
#include <unistd.h>

namespace perfcc {
namespace {

constexpr int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

const char *compiler_path = nullptr;
char *const *compiler_argv = nullptr;
int compiler_status = -1;

void dispose(void (*handler)(int)) {
  for (int number : fatal) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_NODEFER;
    sigaction(number, &action, nullptr);
  }
}

void on_fault(int number) {
  dispose(SIG_DFL);
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
}

void rescue_with(int status) { compiler_status = status; }

void rescue_ends() { dispose(SIG_DFL); }

} // namespace perfcc
