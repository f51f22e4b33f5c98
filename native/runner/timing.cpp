#include "timing.hpp"

#include "compare.hpp"
#include "instance.hpp"

#include <ctime>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <dirent.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace perfcc {
namespace {

constexpr double LongPair = 6e7; // nanoseconds; a pair that took this long takes no more samples

struct Pair {
  double old; // nanoseconds a call
  double now;
};

double wall_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// How long this process's threads have been ready to run without a processor (Linux, Documentation/scheduler/
// sched-stats.rst: the second number of schedstat). Negative where the kernel doesn't tell.
double waited_ns() {
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == nullptr)
    return -1;
  double total = 0;
  bool known = false;
  while (const dirent *entry = readdir(tasks)) {
    if (entry->d_name[0] == '.')
      continue;
    std::string path = std::string("/proc/self/task/") + entry->d_name + "/schedstat";
    std::FILE *file = std::fopen(path.c_str(), "r");
    if (file == nullptr)
      continue;
    unsigned long long ran = 0;
    unsigned long long waited = 0;
    if (std::fscanf(file, "%llu %llu", &ran, &waited) == 2) {
      total += static_cast<double>(waited);
      known = true;
    }
    std::fclose(file);
  }
  closedir(tasks);
  return known ? total : -1;
}

bool same_content(const Input &input, const Instance &old, const Instance &now) {
  for (std::size_t i = 0; i < input.blocks.size(); ++i) {
    if (!input.blocks[i].compared)
      continue;
    std::span<const std::byte> a = old.content(i);
    std::span<const std::byte> b = now.content(i);
    if (a.size() != b.size() || (!a.empty() && std::memcmp(a.data(), b.data(), a.size()) != 0))
      return false;
  }
  return true;
}

class Side {
public:
  Side(const Job &job, const Input &input, const Library &library)
      : clock_(job.wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID), sample_ns_(static_cast<double>(job.sample_ns)),
        instance_(job, input, library) {
    instance_.run();
    instance_.note_changes();
    overhead_ = std::numeric_limits<double>::max();
    for (int i = 0; i < 64; ++i) {
      double start = now();
      overhead_ = std::min(overhead_, now() - start);
    }
  }

  // Nanoseconds a call, over enough calls to fill a sample. Every call starts from the input's content.
  double sample() {
    double total = 0;
    unsigned calls = 0;
    do {
      instance_.restore();
      double start = now();
      instance_.run();
      total += std::max(now() - start - overhead_, 1.0);
      ++calls;
    } while (total < sample_ns_ && calls < 4000);
    return total / calls;
  }

  const Instance &instance() const { return instance_; }

private:
  double now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  }

  clockid_t clock_;
  double sample_ns_;
  double overhead_ = 0;
  Instance instance_;
};

} // namespace

void time_original(const Job &job, const Library &original, std::FILE *report) {
  for (const Input &input : job.inputs) {
    Side side(job, input, original);
    double least = side.sample();
    if (least < 1e7)
      least = std::min(least, side.sample());
    std::fprintf(report, "{\"input\":%" PRIu64 ",\"ns\":%.1f}\n", input.id, least);
    std::fflush(report);
  }
}

void time_pairs(const Job &job, const Library &original, const Library &candidate, std::FILE *report) {
  if (job.inputs.empty())
    return;
  const Input &input = job.inputs.front();
  std::mt19937_64 random(job.seed);
  Side old(job, input, original);
  Side now(job, input, candidate);
  // Nothing is reported before the end: whoever reads it would need a processor.
  std::vector<Pair> pairs;
  bool equal = true;
  std::int64_t score = 0;
  const double limit = static_cast<double>(job.limit_ms) * 1e6;
  const double waited = waited_ns();
  const double start = wall_ns();
  while (pairs.size() < job.pairs && equal && (limit == 0 || wall_ns() - start < limit)) {
    Pair pair{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
    const double begun = wall_ns();
    for (unsigned i = 0; i < job.samples && (i == 0 || wall_ns() - begun < LongPair); ++i) {
      bool old_first = (random() & 1) != 0;
      if (old_first)
        pair.old = std::min(pair.old, old.sample());
      pair.now = std::min(pair.now, now.sample());
      if (!old_first)
        pair.old = std::min(pair.old, old.sample());
    }
    pairs.push_back(pair);
    equal = same_content(input, old.instance(), now.instance());
    bool won = pair.old * 1000 > pair.now * static_cast<double>(job.ratio);
    score += won ? static_cast<std::int64_t>(job.win) : -static_cast<std::int64_t>(job.loss);
    if ((job.accept != 0 && score >= static_cast<std::int64_t>(job.accept)) ||
        (job.reject != 0 && score <= -static_cast<std::int64_t>(job.reject)))
      break;
  }
  const double wall = wall_ns() - start;
  std::fprintf(report, "{\"wall\":%.0f,\"waited\":%.0f}\n", wall, waited < 0 ? -1.0 : waited_ns() - waited);
  for (const Pair &pair : pairs)
    std::fprintf(report, "{\"old\":%.1f,\"new\":%.1f}\n", pair.old, pair.now);
  std::fprintf(report, "{\"input\":%" PRIu64 ",", input.id);
  if (!report_difference(job, input, old.instance(), now.instance(), report))
    std::fprintf(report, "\"equal\":true");
  std::fprintf(report, "}\n");
  std::fflush(report);
}

} // namespace perfcc
