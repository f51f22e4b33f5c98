#include "prefilter.h"

#include "tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <unordered_set>
#include <vector>

namespace perfcc {
namespace {

constexpr bool Any = false;
constexpr bool Cplusplus = true;

constexpr Refusal table[] = {
#define REFUSED_FORM(name, reason) {Refusal::Form, Any, #name, reason},
#define REFUSED_WORD(word, language, reason) {Refusal::Word, language, word, reason},
#define REFUSED_CALL(word, reason) {Refusal::Call, Any, word, reason},
#define REFUSED_STD(word, reason) {Refusal::Std, Cplusplus, word, reason},
#include "refused.def"
#undef REFUSED_FORM
#undef REFUSED_WORD
#undef REFUSED_CALL
#undef REFUSED_STD
};

// The forms come first in the table.
enum Form : std::size_t {
#define REFUSED_FORM(name, reason) name,
#define REFUSED_WORD(word, language, reason)
#define REFUSED_CALL(word, reason)
#define REFUSED_STD(word, reason)
#include "refused.def"
#undef REFUSED_FORM
#undef REFUSED_WORD
#undef REFUSED_CALL
#undef REFUSED_STD
};
static_assert(table[StreamOperator].kind == Refusal::Form && table[StreamOperator].name == "StreamOperator");

const Refusal *row(Form form) { return &table[form]; }

const Refusal *named(Refusal::Kind kind, std::string_view name) {
  static constexpr auto sorted = [] {
    auto rows = std::to_array(table);
    std::sort(rows.begin(), rows.end(), [](const Refusal &a, const Refusal &b) { return a.name < b.name; });
    return rows;
  }();
  auto found = std::lower_bound(sorted.begin(), sorted.end(), name,
                                [](const Refusal &refusal, std::string_view key) { return refusal.name < key; });
  for (; found != sorted.end() && found->name == name; ++found)
    if (found->kind == kind)
      return &*found;
  return nullptr;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return word.size() == text.size() && word[0] == text[0] && word == text;
  });
}

bool is_loop_word(const Token &token) {
  return token.kind == Token::Word && one_of(token.text, {"for", "while", "do"});
}

// Operators that only follow an operand.
bool is_binary(const Token &token) {
  return token.kind == Token::Punctuation &&
         one_of(token.text, {"]",  "=", "==", "!=", "<",  ">",  "<=", ">=", "/",  "%",  "|",   "^",   "<<",
                             ">>", "?", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "<<=", ">>=", "^="});
}

bool is_assignment(const Token &token) {
  return token.kind == Token::Punctuation &&
         one_of(token.text, {"=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="});
}

bool is_step_without_sum(const Token &token) {
  return token.kind == Token::Punctuation && one_of(token.text, {"*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="});
}

void skip_space(std::string_view &text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text[0])) != 0)
    text.remove_prefix(1);
}

// Takes the word from the text's front, if it stands there.
bool take(std::string_view &text, std::string_view word) {
  skip_space(text);
  if (!text.starts_with(word) || (text.size() > word.size() && is_word_byte(text[word.size()])))
    return false;
  text.remove_prefix(word.size());
  return true;
}

// `pragma omp ...` that governs the loop after it.
bool is_openmp(std::string_view directive) {
  return take(directive, "pragma") && take(directive, "omp") && !take(directive, "threadprivate");
}

bool defines_loop(std::string_view directive) {
  if (!take(directive, "define"))
    return false;
  const Tokens inside(directive);
  return std::any_of(inside.list().begin(), inside.list().end(), is_loop_word);
}

class Judge {
public:
  Judge(const std::vector<Token> &tokens, bool cplusplus)
      : tokens_(tokens), cplusplus_(cplusplus), verdicts_(tokens.size(), nullptr) {
    for (const Token &token : tokens)
      if (token.kind == Token::Directive)
        note_macro(token.text);
  }

  Loops all() {
    Loops found = Loops::None;
    for (std::size_t at = tokens_.size(); at-- > 0;) { // the inner loops before those around them
      const Token &token = tokens_[at];
      if (token.kind == Token::Directive) {
        if (found == Loops::None && defines_loop(token.text))
          found = Loops::Refused;
      } else if (is_loop_word(token)) {
        verdicts_[at] = token.is("for") ? loop(at) : row(token.is("do") ? DoLoop : WhileLoop);
        if (verdicts_[at] == nullptr)
          return Loops::Candidate;
        found = Loops::Refused;
      }
    }
    return found;
  }

private:
  static constexpr std::size_t unknown = static_cast<std::size_t>(-1);

  void note_macro(std::string_view directive) {
    if (!take(directive, "define"))
      return;
    skip_space(directive);
    const auto end = std::find_if(directive.begin(), directive.end(), [](char c) { return !is_word_byte(c); });
    macros_.insert(directive.substr(0, static_cast<std::size_t>(end - directive.begin())));
  }

  // A name that may stand for something else than what it looks like.
  bool may_be_macro(std::string_view name) const {
    return macros_.contains(name) ||
           std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  }

  // The token after this one, or after the group that it opens; `unknown` where the group has no end.
  std::size_t after(std::size_t at) const {
    const Token &token = tokens_[at];
    if (token.kind == Token::Punctuation && one_of(token.text, {"(", "[", "{"}))
      return token.closes == 0 ? unknown : at + token.closes + 1;
    return at + 1;
  }

  bool at_end(std::size_t at) const { return at >= tokens_.size(); }

  // Past the end of the statement that begins at `at`.
  std::size_t after_statement(std::size_t at, int depth = 0) const {
    if (depth > 200)
      return unknown;
    while (!at_end(at)) {
      const Token &token = tokens_[at];
      if (token.is("{"))
        return after(at);
      if (token.is(";"))
        return at + 1;
      if (token.is("}") || token.is("do") || token.is("try"))
        return unknown;
      if (token.kind == Token::Word && one_of(token.text, {"if", "for", "while", "switch"})) {
        std::size_t open = at + 1;
        if (!at_end(open) && tokens_[open].is("constexpr"))
          ++open;
        if (at_end(open) || !tokens_[open].is("(") || tokens_[open].closes == 0)
          return unknown;
        std::size_t end = after_statement(after(open), depth + 1);
        if (end != unknown && token.is("if") && !at_end(end) && tokens_[end].is("else"))
          end = after_statement(end + 1, depth + 1);
        return end;
      }
      at = after(at);
      if (at == unknown)
        return unknown;
    }
    return unknown;
  }

  // Why the `for` loop at `at` is refused; nullptr where it may be a kernel.
  const Refusal *loop(std::size_t at) const {
    const std::size_t open = at + 1;
    if (at_end(open) || !tokens_[open].is("(") || tokens_[open].closes == 0)
      return nullptr;
    const std::size_t close = open + tokens_[open].closes;
    const std::size_t end = after_statement(close + 1);
    if (end == unknown)
      return nullptr;
    for (std::size_t i = at; i < end; ++i)
      if (tokens_[i].kind == Token::Directive)
        return row(DirectiveInside);
    for (std::size_t i = at; i > 0 && tokens_[i - 1].kind == Token::Directive; --i)
      if (is_openmp(tokens_[i - 1].text))
        return row(UnderPragma);
    std::size_t parts[2];
    std::size_t count = 0;
    for (std::size_t i = open + 1; i < close; i = after(i)) {
      if (after(i) == unknown)
        return nullptr;
      if (tokens_[i].is(";") && count++ < 2)
        parts[count - 1] = i;
    }
    if (count > 2)
      return nullptr;
    if (count < 2 || parts[0] == open + 1 || parts[1] == parts[0] + 1 || parts[1] + 1 == close)
      return row(NotThreeParts);
    if (const Refusal *found = start(open + 1, parts[0]))
      return found;
    if (const Refusal *found = condition(parts[0] + 1, parts[1]))
      return found;
    if (const Refusal *found = step(parts[1] + 1, close))
      return found;
    if (const Refusal *found = inside(open + 1, end))
      return found;
    return assigns(close + 1, end) ? nullptr : row(NoAssignment);
  }

  const Refusal *start(std::size_t begin, std::size_t end) const {
    bool value = false, angle = false, pointer = false, narrow = false;
    for (std::size_t i = begin; i < end; i = after(i)) {
      const Token &token = tokens_[i];
      if (token.is(",") && !angle)
        return row(SeveralVariables);
      if (token.is("<"))
        angle = true;
      if (token.is("*") && !value)
        pointer = true;
      if (token.is("=") || token.is("(") || token.is("{"))
        value = true;
      if (!value && !angle && token.kind == Token::Word && one_of(token.text, {"char", "short", "float", "double"}))
        narrow = true;
    }
    if (!value)
      return row(NoFirstValue);
    return pointer ? row(PointerVariable) : narrow ? row(NarrowVariable) : nullptr;
  }

  const Refusal *condition(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; i = after(i))
      if (tokens_[i].is("&&") || tokens_[i].is("||"))
        return row(CompoundCondition);
    for (std::size_t i = begin; i < end; ++i) {
      const Token &token = tokens_[i];
      if (one_of(token.text, {"<", ">", "<=", ">=", "!=", "not_eq"}) || is_call(i) ||
          (token.kind == Token::Word && may_be_macro(token.text)))
        return nullptr;
    }
    return row(NoComparison);
  }

  const Refusal *step(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; i = after(i)) {
      if (tokens_[i].is(","))
        return row(SeveralVariables);
      if (is_step_without_sum(tokens_[i]))
        return row(StepNoSum);
    }
    return nullptr;
  }

  // A word with arguments: a function, or a macro that may make anything of them.
  bool is_call(std::size_t at) const {
    return tokens_[at].kind == Token::Word && !at_end(at + 1) && tokens_[at + 1].is("(") &&
           !one_of(tokens_[at].text,
                   {"if", "for", "while", "switch", "return", "catch", "else", "do", "and", "or", "not"});
  }

  const Refusal *inside(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end;) {
      if (const Refusal *found = feature(i))
        return found;
      if (verdicts_[i] != nullptr && verdicts_[i] != row(NoAssignment))
        return verdicts_[i]; // of a loop inside
      i = is_call(i) ? after(i + 1) : i + 1;
      if (i == unknown)
        return nullptr;
    }
    return nullptr;
  }

  const Refusal *feature(std::size_t at) const {
    const Token &token = tokens_[at];
    const Token nothing = {Token::Punctuation, ";"};
    const Token &before = at > 0 ? tokens_[at - 1] : nothing;
    const Token &next = !at_end(at + 1) ? tokens_[at + 1] : nothing;
    if (token.kind == Token::String)
      return before.is("sizeof") ? nullptr : row(StringLiteral);
    if (token.kind == Token::Word)
      return word(at, before, next);
    if (token.kind != Token::Punctuation)
      return nullptr;
    if ((token.text == "." || token.text == "->") && next.kind == Token::Word && !before.is("this")) {
      const bool size =
          next.is("size") && at + 3 < tokens_.size() && tokens_[at + 2].is("(") && tokens_[at + 3].is(")");
      return size || may_be_macro(next.text) ? nullptr : row(MemberAccess);
    }
    if (token.text == "++" || token.text == "--") {
      const bool operand = before.kind == Token::Word || before.is("]") || before.is(")");
      if (operand && is_binary(next))
        return row(NestedIncrement);
      if (before.kind == Token::Word && at > 1 && tokens_[at - 2].is("*"))
        return row(NestedIncrement);
      if (before.is("[") || before.is("=") || before.is("+=") || before.is("-=") || before.is("<") || before.is(">"))
        return row(NestedIncrement);
    }
    return nullptr;
  }

  const Refusal *word(std::size_t at, const Token &before, const Token &next) const {
    const std::string_view text = tokens_[at].text;
    if (macros_.contains(text) || before.is(".") || before.is("->"))
      return nullptr;
    const bool standard = before.is("::") && at > 1 && tokens_[at - 2].is("std");
    if (!before.is("::")) {
      const Refusal *found = named(Refusal::Word, text);
      if (found != nullptr && (cplusplus_ || !found->cplusplus))
        return found;
      if (cplusplus_ && (next.is("<<") || next.is(">>")) && one_of(text, {"cout", "cerr", "clog", "cin"}))
        return row(StreamOperator);
    }
    if (standard && cplusplus_ && !next.is("::"))
      if (const Refusal *found = named(Refusal::Std, text))
        return found;
    return next.is("(") && (standard || !before.is("::")) ? named(Refusal::Call, text) : nullptr;
  }

  // Something is assigned other than by the headers of loops inside.
  bool assigns(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (tokens_[i].is("for") && i + 1 < end && tokens_[i + 1].is("(") && tokens_[i + 1].closes != 0)
        i += tokens_[i + 1].closes + 1;
      else if (is_assignment(tokens_[i]))
        return true;
    }
    return false;
  }

  const std::vector<Token> &tokens_;
  const bool cplusplus_;
  std::vector<const Refusal *> verdicts_;
  std::unordered_set<std::string_view> macros_;
};

} // namespace

Loops loops_in(std::string_view text, bool cplusplus) {
  const Tokens tokens(text);
  return tokens.plain() ? Judge(tokens.list(), cplusplus).all() : Loops::Candidate;
}

std::span<const Refusal> refusals() { return table; }

} // namespace perfcc
