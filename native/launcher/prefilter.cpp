#include "prefilter.h"

#include <algorithm>
#include <string>

namespace perfcc {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 128;
}

constexpr std::size_t npos = std::string_view::npos;

// Past the end of a quoted literal that starts at `at`; npos when it doesn't end on its line.
std::size_t after_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == quote)
      return i + 1;
    else if (text[i] == '\n')
      return npos;
  }
  return npos;
}

// Past the end of a raw string whose quote stands at `at`.
std::size_t after_raw(std::string_view text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  if (open == npos || open - at - 1 > 16)
    return npos;
  std::string_view delimiter = text.substr(at + 1, open - at - 1);
  for (std::size_t close = text.find(')', open); close != npos; close = text.find(')', close + 1)) {
    const std::string_view rest = text.substr(close + 1);
    if (rest.starts_with(delimiter) && rest.size() > delimiter.size() && rest[delimiter.size()] == '"')
      return close + delimiter.size() + 2;
  }
  return npos;
}

bool is_raw_prefix(std::string_view word) {
  return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
}

// The text with continued lines joined, as the preprocessor reads it.
std::string joined(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\\n")
      i += 1;
    else if (text.substr(i, 3) == "\\\r\n")
      i += 2;
    else
      made += text[i];
  }
  return made;
}

bool holds_loop_word(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      const std::size_t end = text.find("*/", i + 2);
      if (end == npos)
        return true;
      i = end + 2;
    } else if (c == '"' || c == '\'') {
      i = after_quoted(text, i);
      if (i == npos)
        return true;
    } else if (is_word(c)) {
      std::size_t end = i;
      // A quote between digits parts a number: 1'000.
      while (end < text.size() && (is_word(text[end]) || (text[end] == '\'' && text[i] >= '0' && text[i] <= '9' &&
                                                          end + 1 < text.size() && is_word(text[end + 1]))))
        ++end;
      const std::string_view word = text.substr(i, end - i);
      if (word == "for" || word == "while" || word == "do")
        return true;
      i = end;
      if (i < text.size() && text[i] == '"' && is_raw_prefix(word)) {
        i = after_raw(text, i);
        if (i == npos)
          return true;
      }
    } else {
      ++i;
    }
  }
  return false;
}

} // namespace

bool may_hold_loop(std::string_view text) {
  if (text.find("?\?/") != npos) // a backslash in disguise
    return true;
  if (text.find("\\\n") != npos || text.find("\\\r\n") != npos)
    return holds_loop_word(joined(text));
  return holds_loop_word(text);
}

} // namespace perfcc
