#include "timing.hpp"

#include "compare.hpp"
#include "instance.hpp"

#include <ctime>

#include <algorithm>
#include <limits>
#include <random>

namespace perfcc {
namespace {

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

void time_pairs(const Job &job, const Library &original, const Library &candidate, std::FILE *report) {
  if (job.inputs.empty())
    return;
  const Input &input = job.inputs.front();
  std::mt19937_64 random(job.seed);
  Side old(job, input, original);
  Side now(job, input, candidate);
  for (unsigned pair = 0; pair < job.pairs; ++pair) {
    double least_old = std::numeric_limits<double>::max();
    double least_new = least_old;
    for (unsigned i = 0; i < job.samples; ++i) {
      bool old_first = (random() & 1) != 0;
      if (old_first)
        least_old = std::min(least_old, old.sample());
      least_new = std::min(least_new, now.sample());
      if (!old_first)
        least_old = std::min(least_old, old.sample());
    }
    std::fprintf(report, "{\"pair\":%u,\"old\":%.1f,\"new\":%.1f,", pair, least_old, least_new);
    if (!report_difference(job, input, old.instance(), now.instance(), report))
      std::fprintf(report, "\"equal\":true");
    std::fprintf(report, "}\n");
    std::fflush(report);
    if (std::ferror(report) != 0)
      return;
  }
}

} // namespace perfcc
