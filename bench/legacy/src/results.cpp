#include "results.h"

#include "error.h"

Results::Results() : head_(0), tail_(0)
{
}

Results::~Results()
{
    while (head_) {
        Figure* next = head_->next;
        delete head_;
        head_ = next;
    }
}

void Results::check(const std::string& name, uint64_t sum)
{
    names_.push_back(name);
    sums_.push_back(sum);
}

void Results::figure(const std::string& name, double value)
{
    Figure* added = new Figure;
    added->name = name;
    added->value = value;
    added->next = 0;
    if (tail_)
        tail_->next = added;
    else
        head_ = added;
    tail_ = added;
}

int Results::figures() const
{
    int count = 0;
    for (const Figure* f = head_; f; f = f->next)
        ++count;
    return count;
}

double Results::largest_figure() const
{
    double largest = 0.0;
    const Figure* f = head_;
    while (f) {
        if (f->value > largest)
            largest = f->value;
        f = f->next;
    }
    return largest;
}

void Results::print(FILE* out) const
{
    for (std::vector<uint64_t>::size_type i = 0; i < sums_.size(); ++i) {
        unsigned long high = static_cast<unsigned long>(sums_[i] >> 32);
        unsigned long low = static_cast<unsigned long>(sums_[i] & 0xffffffffu);
        fprintf(out, "check %-24s %08lx%08lx\n", names_[i].c_str(), high, low);
    }
    for (const Figure* f = head_; f; f = f->next)
        fprintf(out, "value %-24s %.10g\n", f->name.c_str(), f->value);
}

static FILE* create(const std::string& file)
{
    FILE* out = fopen(file.c_str(), "w");
    if (!out)
        throw Error(file, "cannot create");
    return out;
}

static void finish(FILE* out, const std::string& file)
{
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        throw Error(file, "write error");
}

void Results::write_csv(const std::string& file) const
{
    FILE* out = create(file);
    fprintf(out, "name,value\n");
    for (const Figure* f = head_; f; f = f->next)
        fprintf(out, "%s,%.17g\n", f->name.c_str(), f->value);
    finish(out, file);
}

void write_column(const std::string& file, const std::string& title, const std::vector<double>& values)
{
    FILE* out = create(file);
    fprintf(out, "index,%s\n", title.c_str());
    const int n = static_cast<int>(values.size());
    for (int i = 0; i < n; ++i)
        fprintf(out, "%d,%.17g\n", i, values[i]);
    finish(out, file);
}
