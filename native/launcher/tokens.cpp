#include "tokens.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace perfcc {
namespace {

constexpr std::size_t npos = std::string_view::npos;

constexpr auto word_bytes = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 256; ++c)
    table[c] =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c >= 128;
  return table;
}();

bool is_word(char c) { return word_bytes[static_cast<unsigned char>(c)]; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

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
  const std::string_view delimiter = text.substr(at + 1, open - at - 1);
  for (std::size_t close = text.find(')', open); close != npos; close = text.find(')', close + 1)) {
    const std::string_view rest = text.substr(close + 1);
    if (rest.starts_with(delimiter) && rest.size() > delimiter.size() && rest[delimiter.size()] == '"')
      return close + delimiter.size() + 2;
  }
  return npos;
}

// Past the end of a directive's line, the comments that run over it included.
std::size_t after_directive(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '\n') {
    if (text.substr(at, 2) == "//")
      return std::min(text.find('\n', at), text.size());
    if (text.substr(at, 2) == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      if (end == npos)
        return npos;
      at = end + 2;
    } else if (text[at] == '"') {
      const std::size_t end = after_quoted(text, at);
      at = end == npos ? at + 1 : end;
    } else {
      ++at;
    }
  }
  return at;
}

bool is_raw_prefix(std::string_view word) {
  return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
}

bool is_prefix(std::string_view word) { return word == "L" || word == "u" || word == "U" || word == "u8"; }

// As long as the longest operator that the text begins with.
std::size_t operator_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  const auto first_is = [&](const char *set) { return std::strchr(set, text[0]) != nullptr; };
  const char second = at(1);
  if (second == '=' && first_is("<>=!+-*/%&|^"))
    return text[0] == '<' && at(2) == '>' ? 3 : 2;
  if (second == text[0] && first_is("+-<>&|:#"))
    return (text[0] == '<' || text[0] == '>') && at(2) == '=' ? 3 : 2;
  if (text[0] == '-' && second == '>')
    return at(2) == '*' ? 3 : 2;
  if (text[0] == '.')
    return second == '*' ? 2 : second == '.' && at(2) == '.' ? 3 : 1;
  return 1;
}

std::string without_continuations(std::string_view text) {
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

} // namespace

bool is_word_byte(char c) { return is_word(c); }

Tokens::Tokens(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf"))
    text.remove_prefix(3);
  for (const std::string_view disguise : {"?\?/", "<%", "%>", "%:"}) // of a backslash, braces and #
    if (text.find(disguise) != npos)
      plain_ = false;
  joined_ = text.find("\\\n") != npos || text.find("\\\r\n") != npos ? without_continuations(text) : std::string(text);
  list_.reserve(joined_.size() / 5);
  plain_ = read(joined_) && plain_;
  match();
}

bool Tokens::read(std::string_view text) {
  bool line_start = true;
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '\n') {
      line_start = true;
      ++i;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++i;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      const std::size_t end = text.find("*/", i + 2);
      if (end == npos)
        return false;
      i = end + 2;
    } else if (c == '#' && line_start) {
      const std::size_t end = after_directive(text, i);
      if (end == npos)
        return false;
      list_.push_back({Token::Directive, text.substr(i + 1, end - i - 1)});
      i = end;
    } else {
      line_start = false;
      std::size_t end = i;
      Token::Kind kind = Token::Punctuation;
      if (is_digit(c) || (c == '.' && i + 1 < text.size() && is_digit(text[i + 1]))) {
        kind = Token::Number;
        // A quote between digits parts a number, and a sign may follow an exponent: 1'000, 1e-3.
        while (end < text.size() && (is_word(text[end]) || text[end] == '.' ||
                                     (text[end] == '\'' && end + 1 < text.size() && is_word(text[end + 1])) ||
                                     ((text[end] == '-' || text[end] == '+') && end > i &&
                                      std::string_view("eEpP").find(text[end - 1]) != npos)))
          ++end;
      } else if (is_word(c)) {
        kind = Token::Word;
        while (end < text.size() && is_word(text[end]))
          ++end;
        const std::string_view word = text.substr(i, end - i);
        const char next = end < text.size() ? text[end] : '\0';
        if (next == '"' && is_raw_prefix(word)) {
          kind = Token::String;
          end = after_raw(text, end);
        } else if ((next == '"' || next == '\'') && is_prefix(word)) {
          kind = next == '"' ? Token::String : Token::Character;
          end = after_quoted(text, end);
        }
      } else if (c == '"' || c == '\'') {
        kind = c == '"' ? Token::String : Token::Character;
        end = after_quoted(text, i);
      } else {
        end = i + operator_length(text.substr(i));
      }
      if (end == npos)
        return false;
      list_.push_back({kind, text.substr(i, end - i)});
      i = end;
    }
  }
  return true;
}

void Tokens::match() {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].kind != Token::Punctuation || list_[i].text.size() != 1)
      continue;
    const char c = list_[i].text[0];
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(i);
    } else if (c == ')' || c == ']' || c == '}') {
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      // A brace that a conditional group or a macro left open must not take the partners of what is around it.
      if (!open.empty() && list_[open.back()].text[0] == wanted) {
        list_[open.back()].closes = static_cast<unsigned>(i - open.back());
        open.pop_back();
      } else if (wanted == '{') {
        while (!open.empty() && list_[open.back()].text[0] != '{')
          open.pop_back();
        if (!open.empty()) {
          list_[open.back()].closes = static_cast<unsigned>(i - open.back());
          open.pop_back();
        }
      }
    }
  }
}

} // namespace perfcc
