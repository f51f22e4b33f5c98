#include "coverage.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <vector>

namespace {

// Written by one thread: originals are serial. Function-local, as a codelet's constructors may come first.
struct Edges {
  std::vector<bool> hit{false}; // guard 0 means "not instrumented"
  std::vector<std::uint32_t> fresh;
  const std::uintptr_t *table = nullptr; // pairs of address and flags, one an edge
  std::size_t entries = 0;
};

Edges &edges() {
  static Edges all;
  return all;
}

} // namespace

extern "C" {

void __sanitizer_cov_trace_pc_guard_init(std::uint32_t *start, std::uint32_t *stop) {
  if (start == stop || *start != 0)
    return;
  for (std::uint32_t *guard = start; guard != stop; ++guard) {
    *guard = static_cast<std::uint32_t>(edges().hit.size());
    edges().hit.push_back(false);
  }
}

void __sanitizer_cov_trace_pc_guard(std::uint32_t *guard) {
  if (*guard == 0)
    return;
  edges().hit[*guard] = true;
  edges().fresh.push_back(*guard);
  *guard = 0;
}

void __sanitizer_cov_pcs_init(const std::uintptr_t *begin, const std::uintptr_t *end) {
  edges().table = begin;
  edges().entries = static_cast<std::size_t>(end - begin) / 2;
}
}

namespace perfcc {

void report_new_edges(std::FILE *report) {
  std::fprintf(report, ",\"edges\":[");
  const char *separator = "";
  for (std::uint32_t edge : edges().fresh) {
    std::fprintf(report, "%s%u", separator, edge);
    separator = ",";
  }
  std::fprintf(report, "]");
  edges().fresh.clear();
}

void report_all_edges(std::FILE *report) {
  std::fprintf(report, "{\"total\":%zu,\"missed\":[", edges().hit.size() - 1);
  const char *separator = "";
  for (std::size_t edge = 1; edge < edges().hit.size(); ++edge) {
    if (edges().hit[edge])
      continue;
    std::uintptr_t offset = 0;
    Dl_info info{};
    if (edge <= edges().entries) {
      std::uintptr_t address = edges().table[2 * (edge - 1)];
      if (dladdr(reinterpret_cast<void *>(address), &info) != 0)
        offset = address - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    }
    std::fprintf(report, "%s[%zu,%zu]", separator, edge, static_cast<std::size_t>(offset));
    separator = ",";
  }
  std::fprintf(report, "]}\n");
  std::fflush(report);
}

} // namespace perfcc
