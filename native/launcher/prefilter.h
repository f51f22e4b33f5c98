// Whether a unit can hold a kernel at all, told from the text of its main file.
#pragma once

#include <string_view>

namespace perfcc {

// False only when the text, outside comments and literals, has none of the words `for`, `while`, `do`: then there is no
// loop in the main file. A text that is hard to read counts as one with loops.
bool may_hold_loop(std::string_view text);

} // namespace perfcc
