// Errors that end a run.
#ifndef FIELDLAB_ERROR_H
#define FIELDLAB_ERROR_H

#include <stdexcept>
#include <string>

class Error : public std::runtime_error {
public:
    explicit Error(const std::string& what) : std::runtime_error(what) {}
    Error(const std::string& file, const std::string& what) : std::runtime_error(file + ": " + what) {}
};

// Prints a warning to stderr and counts it.
void warn(const std::string& what);
int warnings();

std::string to_text(long value);

#endif
