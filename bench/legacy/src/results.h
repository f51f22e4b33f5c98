// What a run found: checksums and figures, kept in the order in which they came.
#ifndef FIELDLAB_RESULTS_H
#define FIELDLAB_RESULTS_H

#include <stdint.h>
#include <stdio.h>
#include <string>
#include <vector>

struct Figure {
    std::string name;
    double value;
    Figure* next;
};

class Results {
public:
    Results();
    ~Results();

    void check(const std::string& name, uint64_t sum);
    void figure(const std::string& name, double value);

    void print(FILE* out) const;
    int figures() const;
    double largest_figure() const;
    void write_csv(const std::string& file) const;

private:
    Results(const Results&);
    Results& operator=(const Results&);

    std::vector<std::string> names_;
    std::vector<uint64_t> sums_;
    Figure* head_;
    Figure* tail_;
};

// One column a line, for plotting.
void write_column(const std::string& file, const std::string& title, const std::vector<double>& values);

#endif
