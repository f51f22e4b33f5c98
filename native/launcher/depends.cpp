#include "depends.h"

#include <algorithm>

namespace perfcc {
namespace {

std::vector<std::string> sorted_set(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

} // namespace

std::vector<std::string> parse_make_rule(std::string_view text) {
  std::vector<std::string> names;
  std::string word;
  bool seen_colon = false;
  auto finish = [&] {
    if (word.empty())
      return;
    if (!seen_colon && word.back() == ':')
      seen_colon = true;
    else if (seen_colon)
      names.push_back(word);
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      finish();
      ++i;
    } else if (c == '\\' && (next == ' ' || next == '\t' || next == '#')) {
      word += next;
      ++i;
    } else if (c == '$' && next == '$') {
      word += c;
      ++i;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      finish();
    } else if (c == '\n') {
      finish();
      seen_colon = false;
    } else {
      word += c;
    }
  }
  finish();
  return sorted_set(std::move(names));
}

std::vector<std::string> parse_header_list(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.empty())
      names.emplace_back(line);
  }
  return sorted_set(std::move(names));
}

} // namespace perfcc
