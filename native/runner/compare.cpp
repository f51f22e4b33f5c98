#include "compare.hpp"

#include "coverage.hpp"
#include "instance.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace perfcc {
namespace {

void write_hex(std::span<const std::byte> bytes, std::FILE *report) {
  for (std::byte byte : bytes)
    std::fprintf(report, "%02x", static_cast<unsigned>(byte));
}

void begin(const Input &input, const char *phase, std::FILE *report) {
  std::fprintf(report, "{\"input\":%" PRIu64 ",\"phase\":\"%s\"}\n", input.id, phase);
  std::fflush(report);
}

unsigned long fast_runs(const Library &library) { return library.fast_runs == nullptr ? 0 : *library.fast_runs; }

} // namespace

bool report_difference(const Job &job, const Input &input, const Instance &original, const Instance &candidate,
                       std::FILE *report) {
  for (std::size_t i = 0; i < input.blocks.size(); ++i) {
    if (!input.blocks[i].compared)
      continue;
    std::span<const std::byte> old = original.content(i);
    std::span<const std::byte> now = candidate.content(i);
    std::size_t common = std::min(old.size(), now.size());
    if (old.size() == now.size() && (common == 0 || std::memcmp(old.data(), now.data(), common) == 0))
      continue;
    auto at = static_cast<std::size_t>(
        std::mismatch(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(common), now.begin()).first - old.begin());
    for (std::size_t v = 0; v < input.arguments.size(); ++v) {
      const Argument &argument = input.arguments[v];
      if (argument.block != i || argument.offset > at)
        continue;
      std::size_t element = job.variables[v].element;
      std::size_t index = (at - argument.offset) / element;
      std::size_t start = argument.offset + index * element;
      std::fprintf(report, "\"equal\":false,\"variable\":\"%s\",\"index\":%zu,\"original\":\"",
                   job.variables[v].name.c_str(), index);
      write_hex(old.subspan(std::min(start, old.size()), std::min(element, old.size() - std::min(start, old.size()))),
                report);
      std::fprintf(report, "\",\"candidate\":\"");
      write_hex(now.subspan(std::min(start, now.size()), std::min(element, now.size() - std::min(start, now.size()))),
                report);
      std::fprintf(report, "\"");
      return true;
    }
    std::fprintf(report, "\"equal\":false,\"variable\":\"\",\"index\":%zu,\"original\":\"\",\"candidate\":\"\"", at);
    return true;
  }
  return false;
}

void compare_all(const Job &job, const Library &original, const Library &candidate, std::FILE *report) {
  for (const Input &input : job.inputs) {
    Instance old(job, input, original);
    Instance now(job, input, candidate);
    begin(input, "original", report);
    poison_stack(job.poison);
    int old_errno = old.run();
    begin(input, "candidate", report);
    unsigned long before = fast_runs(candidate);
    poison_stack(job.poison);
    int new_errno = now.run();
    std::fprintf(report, "{\"input\":%" PRIu64 ",\"fast\":%lu,", input.id, fast_runs(candidate) - before);
    if (old.broken_guard()) {
      std::fprintf(report, "\"void\":true");
    } else if (auto name = now.broken_guard()) {
      std::fprintf(
          report,
          "\"equal\":false,\"outside\":true,\"variable\":\"%s\",\"index\":0,\"original\":\"\",\"candidate\":\"\"",
          name->c_str());
    } else if (!report_difference(job, input, old, now, report)) {
      if (job.check_errno && old_errno != new_errno)
        std::fprintf(report,
                     "\"equal\":false,\"variable\":\"errno\",\"index\":0,\"original\":\"%d\",\"candidate\":\"%d\"",
                     old_errno, new_errno);
      else
        std::fprintf(report, "\"equal\":true");
    }
    std::fprintf(report, "}\n");
    std::fflush(report);
  }
}

void run_all(const Job &job, const Library &library, std::FILE *report) {
  for (const Input &input : job.inputs) {
    Instance instance(job, input, library);
    begin(input, "run", report);
    poison_stack(job.poison);
    unsigned long before = fast_runs(library);
    instance.run();
    std::fprintf(report, "{\"input\":%" PRIu64 ",\"fast\":%lu", input.id, fast_runs(library) - before);
    if (job.mode == Mode::Cover)
      report_new_edges(report);
    std::fprintf(report, ",\"ran\":true}\n");
    std::fflush(report);
  }
  if (job.mode == Mode::Cover)
    report_all_edges(report);
}

} // namespace perfcc
