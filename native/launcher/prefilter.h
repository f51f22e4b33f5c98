// Whether a text can hold a kernel at all, told from its tokens alone.
#pragma once

#include <span>
#include <string_view>

namespace perfcc {

enum class Loops {
  None,      // not one of the words `for`, `while`, `do`
  Refused,   // every loop is one that the frontend is sure to refuse
  Candidate, // there may be a kernel
};

// A text that is hard to read counts as one with candidates. Loops that macros of other files hide are not seen: they
// are refused in any case.
Loops loops_in(std::string_view text, bool cplusplus);

// A row of refused.def.
struct Refusal {
  enum Kind : unsigned char { Form, Word, Call, Std };
  Kind kind;
  bool cplusplus; // of C++ alone
  std::string_view name;
  std::string_view reason;
};

std::span<const Refusal> refusals();

} // namespace perfcc
