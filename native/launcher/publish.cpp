#include "publish.h"

#include "files.h"

#include <fcntl.h>

namespace perfcc {

bool publish(const std::string &store, const Manifest &manifest, const std::string &output) {
  struct stat status;
  std::string original, bytes;
  const Fd fd(open(output.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  if (!fd.ok() || fstat(fd.get(), &status) != 0 || !read_descriptor(fd.get(), original) ||
      blake2b(original) != manifest.original)
    return false;
  return read_stored(object_path(store, manifest.object), bytes) && blake2b(bytes) == manifest.object &&
         replace_file(output, bytes, status);
}

} // namespace perfcc
