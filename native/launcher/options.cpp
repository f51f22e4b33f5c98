#include "options.h"

#include <algorithm>
#include <array>

namespace perfcc {
namespace {

constexpr auto options = [] {
  auto rows = std::to_array<Option>({
#define OPTION(spelling, argument, effect, reason) {spelling, Argument::argument, Effect::effect, reason},
#include "options.def"
#undef OPTION
  });
  std::sort(rows.begin(), rows.end(), [](const Option &a, const Option &b) { return a.spelling < b.spelling; });
  return rows;
}();

static_assert(std::adjacent_find(options.begin(), options.end(), [](const Option &a, const Option &b) {
                return a.spelling == b.spelling;
              }) == options.end());

constexpr PassReason reasons[] = {
#define PASS_REASON(id, sentence) {id, sentence, false},
#define HELD_BACK(id, sentence) {id, sentence, true},
#include "reasons.def"
#undef HELD_BACK
#undef PASS_REASON
};

constexpr std::size_t longest = std::max_element(options.begin(), options.end(), [](const Option &a, const Option &b) {
                                  return a.spelling.size() < b.spelling.size();
                                })->spelling.size();

bool takes_rest(Argument argument) { return argument == Argument::Joined || argument == Argument::JoinedOrSeparate; }

} // namespace

std::span<const Option> option_table() { return options; }

std::span<const PassReason> pass_reasons() { return reasons; }

bool is_held_back(std::string_view reason) {
  return std::any_of(std::begin(reasons), std::end(reasons),
                     [reason](const PassReason &row) { return row.held_back && row.id == reason; });
}

const Option *find_option(std::string_view word) {
  for (std::size_t length = std::min(word.size(), longest); length > 0; --length) {
    const std::string_view prefix = word.substr(0, length);
    auto row = std::lower_bound(options.begin(), options.end(), prefix,
                                [](const Option &option, std::string_view key) { return option.spelling < key; });
    if (row != options.end() && row->spelling == prefix && (length == word.size() || takes_rest(row->argument)))
      return &*row;
  }
  return nullptr;
}

const char *name(Argument argument) {
  switch (argument) {
  case Argument::None:
    return "none";
  case Argument::Joined:
    return "joined";
  case Argument::Separate:
    return "separate";
  case Argument::JoinedOrSeparate:
    return "joined-or-separate";
  }
  return "";
}

const char *name(Effect effect) {
  switch (effect) {
  case Effect::Neutral:
    return "neutral";
  case Effect::Preprocess:
    return "preprocess";
  case Effect::Semantics:
    return "semantics";
  case Effect::Pass:
    return "pass";
  case Effect::Compile:
    return "compile";
  case Effect::Output:
    return "output";
  case Effect::Language:
    return "language";
  case Effect::Optimise:
    return "optimise";
  case Effect::Depend:
    return "depend";
  case Effect::DependAll:
    return "depend-all";
  case Effect::DependFile:
    return "depend-file";
  case Effect::DependTarget:
    return "depend-target";
  case Effect::Forward:
    return "forward";
  }
  return "";
}

} // namespace perfcc
