// The option table (options.def) and the lookup in it.
#pragma once

#include <span>
#include <string_view>

namespace perfcc {

enum class Argument { None, Joined, Separate, JoinedOrSeparate };

enum class Effect {
  Neutral,
  Preprocess,
  Semantics,
  Pass,
  Compile,
  Output,
  Language,
  Optimise,
  Depend,
  DependAll,
  DependFile,
  DependTarget,
  Forward, // -Wp, and the like: argv.cpp knows which words may be handed on
};

struct Option {
  std::string_view spelling;
  Argument argument;
  Effect effect;
  std::string_view reason; // of Effect::Pass, else empty
};

struct PassReason {
  std::string_view id;
  std::string_view sentence;
  bool held_back; // the compile is understood, and only a rewrite is unwanted
};

// Sorted by spelling.
std::span<const Option> option_table();
std::span<const PassReason> pass_reasons();
bool is_held_back(std::string_view reason);

// The row that fits the word, or nullptr for an unknown option.
const Option *find_option(std::string_view word);

const char *name(Argument argument);
const char *name(Effect effect);

} // namespace perfcc
