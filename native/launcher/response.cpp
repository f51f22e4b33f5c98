#include "response.h"

#include "files.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace perfcc {
namespace {

constexpr int max_response_files = 64;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Splits as libiberty's buildargv does: white space parts words, quotes hold them together, a backslash takes the next
// character as it is.
std::vector<std::string> split_response(std::string_view text) {
  std::vector<std::string> words;
  std::size_t i = 0;
  while (i < text.size()) {
    while (i < text.size() && is_space(text[i]))
      ++i;
    if (i == text.size())
      break;
    std::string word;
    char quote = 0;
    for (; i < text.size() && (quote != 0 || !is_space(text[i])); ++i) {
      const char c = text[i];
      if (c == '\\' && i + 1 < text.size())
        word += text[++i];
      else if (quote != 0 && c == quote)
        quote = 0;
      else if (quote == 0 && (c == '\'' || c == '"'))
        quote = c;
      else
        word += c;
    }
    words.push_back(std::move(word));
  }
  return words;
}

// GCC and Clang do not read these alike: other white space, an encoding's mark, a last backslash, an empty word.
bool is_read_differently(std::string_view text, const std::vector<std::string> &words) {
  return text.find_first_of(std::string_view("\0\v\f", 3)) != std::string_view::npos ||
         text.starts_with("\xef\xbb\xbf") || text.ends_with('\\') ||
         std::any_of(words.begin(), words.end(), [](const auto &word) { return word.empty(); });
}

bool expand(const std::vector<std::string> &argv, const std::string &cwd, std::vector<std::string> &expanded,
            int &budget) {
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const std::string &word = argv[i];
    if (word.size() < 2 || word[0] != '@') {
      expanded.push_back(word);
      continue;
    }
    std::string text;
    if (budget-- <= 0 || !read_file(absolute(word.substr(1), cwd), text))
      return false;
    const std::vector<std::string> words = split_response(text);
    if (is_read_differently(text, words) || !expand(words, cwd, expanded, budget))
      return false;
  }
  return true;
}

} // namespace

bool expand_response_files(const std::vector<std::string> &argv, const std::string &cwd,
                           std::vector<std::string> &expanded) {
  int budget = max_response_files;
  return expand(argv, cwd, expanded, budget);
}

} // namespace perfcc
