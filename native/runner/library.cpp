#include "library.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace perfcc {
namespace {

template <typename Function> void find(void *handle, const std::string &name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(handle, name.c_str()));
  if (function == nullptr)
    throw std::runtime_error("the codelet lacks " + name);
}

} // namespace

Library load(const std::string &path, const Job &job) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw std::runtime_error(dlerror());
  Library library;
  find(handle, "perfcc_codelet_run", library.run);
  library.fast_runs = static_cast<const unsigned long *>(dlsym(handle, "perfcc_codelet_fast_runs"));
  library.vectors.resize(job.variables.size());
  for (std::size_t i = 0; i < job.variables.size(); ++i) {
    if (job.variables[i].kind != Kind::Vector)
      continue;
    std::string suffix("_");
    suffix += std::to_string(i);
    find(handle, "perfcc_codelet_make" + suffix, library.vectors[i].make);
    find(handle, "perfcc_codelet_view" + suffix, library.vectors[i].view);
    find(handle, "perfcc_codelet_free" + suffix, library.vectors[i].free);
  }
  return library;
}

} // namespace perfcc
