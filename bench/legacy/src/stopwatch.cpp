#include "stopwatch.h"

#include <sys/time.h>

static double now()
{
    struct timeval tv;
    gettimeofday(&tv, 0);
    return tv.tv_sec + 1e-6 * tv.tv_usec;
}

Stopwatch::Stopwatch() : begin_(now()), since_(0.0)
{
}

void Stopwatch::start(const std::string& step)
{
    steps_.push_back(step);
    since_ = now();
}

void Stopwatch::stop()
{
    seconds_.push_back(now() - since_);
}

double Stopwatch::total() const
{
    return now() - begin_;
}

void Stopwatch::print(FILE* out) const
{
    for (std::vector<double>::size_type i = 0; i < seconds_.size(); ++i)
        fprintf(out, "time  %-24s %9.4f\n", steps_[i].c_str(), seconds_[i]);
    fprintf(out, "time  %-24s %9.4f\n", "total", total());
}
