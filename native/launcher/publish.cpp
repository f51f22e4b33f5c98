#include "publish.h"

#include "files.h"
#include "manifest.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace perfcc {

bool publish(const std::string &store, const Digest &object, const std::string &output) {
  struct stat status;
  std::string bytes;
  return lstat(output.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         read_file(object_path(store, object), bytes) && blake2b(bytes) == object &&
         put_in_place(output, status, bytes);
}

bool put_in_place(const std::string &output, const struct stat &status, std::string_view bytes) {
  std::string temporary = std::string(directory_of(output)) + "/.perfcc-XXXXXX";
  const Fd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.ok())
    return false;
  const struct timespec times[2] = {status.st_atim, status.st_mtim};
  if (write_all(fd.get(), bytes) && fchmod(fd.get(), status.st_mode & 07777) == 0 && futimens(fd.get(), times) == 0 &&
      rename(temporary.c_str(), output.c_str()) == 0)
    return true;
  unlink(temporary.c_str());
  return false;
}

} // namespace perfcc
