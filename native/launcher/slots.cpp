#include "slots.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace perfcc {
namespace {

// At least two: one may be waiting for a quiet machine to time something.
long slots() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  const long processors = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
  const long gibibytes = sysconf(_SC_PHYS_PAGES) / ((1L << 30) / sysconf(_SC_PAGESIZE));
  return std::max(2L, std::min(processors, gibibytes));
}

} // namespace

bool take_slot(Fd &slot) {
  const char *folder = std::getenv("TMPDIR");
  const std::string prefix = (folder != nullptr && *folder != '\0' ? std::string(folder) : "/tmp") + "/perfcc-" +
                             std::to_string(getuid()) + ".worker-";
  bool taken = false;
  for (long number = 0, count = slots(); number < count; ++number) {
    slot.reset(open((prefix + std::to_string(number)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (struct stat status; !slot.ok() || fstat(slot.get(), &status) != 0 || status.st_uid != geteuid())
      continue; // where somebody else made it, he could keep it for ever
    if (flock(slot.get(), LOCK_EX | LOCK_NB) == 0)
      return true;
    taken = taken || errno == EWOULDBLOCK;
  }
  slot.reset();
  return !taken;
}

} // namespace perfcc
