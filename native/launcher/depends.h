// The files a compile read, as the compiler itself reports them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perfcc {

// The prerequisites of the rules of a make fragment (-MD, SUNPRO_DEPENDENCIES), unquoted, sorted, each once.
std::vector<std::string> parse_make_rule(std::string_view text);

// The headers of Clang's CC_PRINT_HEADERS_FILE: one a line; sorted, each once.
std::vector<std::string> parse_header_list(std::string_view text);

} // namespace perfcc
