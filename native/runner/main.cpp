// perfcc-runner JOB: see job.cpp for what a job says. Exit status: 0 when every run came back, whatever they gave; 2
// for a job that can't be run.
#include "compare.hpp"
#include "library.hpp"
#include "sandbox.hpp"
#include "timing.hpp"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace {

// A descriptor of the report's own: what a codelet prints goes to standard error.
std::FILE *open_report() {
  int descriptor = dup(STDOUT_FILENO);
  if (descriptor < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return nullptr;
  return fdopen(descriptor, "w");
}

} // namespace

int main(int count, char **words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: perfcc-runner JOB\n");
    return 2;
  }
  try {
    using namespace perfcc;
    std::FILE *report = open_report();
    if (report == nullptr)
      return 2;
    Job job = read_job(words[1]);
    std::fprintf(report, "{\"sandbox\":[");
    const char *separator = "";
    for (const std::string &name : enter_sandbox(job)) {
      std::fprintf(report, "%s\"%s\"", separator, name.c_str());
      separator = ",";
    }
    std::fprintf(report, "]}\n");
    std::fflush(report);
    if (job.poison != 0)
      mallopt(M_PERTURB, job.poison);
    Library original = load(job.original, job);
    if (job.mode == Mode::Run || job.mode == Mode::Cover) {
      run_all(job, original, report);
    } else if (job.mode == Mode::Probe) {
      time_original(job, original, report);
    } else {
      Library candidate = load(job.candidate, job);
      if (job.mode == Mode::Compare)
        compare_all(job, original, candidate, report);
      else
        time_pairs(job, original, candidate, report);
    }
    std::fprintf(report, "{\"done\":true}\n");
    std::fflush(report);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "perfcc-runner: %s\n", error.what());
    return 2;
  }
  return 0;
}
