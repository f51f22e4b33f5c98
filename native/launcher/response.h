// Response files: the words that @file stands for.
#pragma once

#include <string>
#include <vector>

namespace perfcc {

// Appends argv to `expanded`, with the words of each file, nested ones too, in the place of @file. False where a file
// is missing, is read differently by different compilers, or there are too many.
bool expand_response_files(const std::vector<std::string> &argv, const std::string &cwd,
                           std::vector<std::string> &expanded);

} // namespace perfcc
