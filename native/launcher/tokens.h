// C and C++ text as preprocessing tokens, for whoever has to tell something from a text alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perfcc {

struct Token {
  // A directive is one token: its text reaches from past the `#` to the end of its line.
  enum Kind : unsigned char { Word, Number, String, Character, Punctuation, Directive };
  Kind kind;
  std::string_view text;
  // For an opening bracket, how many tokens further on the bracket stands that closes it; 0 where none does.
  unsigned closes = 0;

  bool is(std::string_view word) const {
    return text.size() == word.size() && text[0] == word[0] && (kind == Word || kind == Punctuation) && text == word;
  }
};

// Part of a word or a number.
bool is_word_byte(char c);

// Owns the text that its tokens look into.
class Tokens {
public:
  // Joins continued lines and drops comments. Conditional groups are not evaluated.
  explicit Tokens(std::string_view text);
  Tokens(const Tokens &) = delete;
  Tokens &operator=(const Tokens &) = delete;

  // False where the text is hard to read: a comment or literal without an end, trigraphs, digraphs.
  bool plain() const { return plain_; }
  const std::vector<Token> &list() const { return list_; }

private:
  bool read(std::string_view text);
  void match();

  std::string joined_;
  std::vector<Token> list_;
  bool plain_ = true;
};

} // namespace perfcc
