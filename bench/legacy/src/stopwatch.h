// Wall-clock times of the steps of a run.
#ifndef FIELDLAB_STOPWATCH_H
#define FIELDLAB_STOPWATCH_H

#include <stdio.h>
#include <string>
#include <vector>

class Stopwatch {
public:
    Stopwatch();
    void start(const std::string& step);
    void stop();
    double total() const;
    void print(FILE* out) const;

private:
    double begin_;
    double since_;
    std::vector<std::string> steps_;
    std::vector<double> seconds_;
};

// Times one step for as long as it lives.
class Timed {
public:
    Timed(Stopwatch& watch, const std::string& step) : watch_(watch) { watch_.start(step); }
    ~Timed() { watch_.stop(); }

private:
    Timed(const Timed&);
    Timed& operator=(const Timed&);

    Stopwatch& watch_;
};

#endif
