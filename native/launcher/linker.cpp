#include "linker.h"

#include <algorithm>
#include <iterator>

namespace perfcc {
namespace {

// Without their dashes; options of one letter take their value in the same word or in the next.
constexpr std::string_view letters = "EOLSTXehlmsuxz()";
constexpr std::string_view known[] = {
    "Bdynamic",
    "Bstatic",
    "Bsymbolic",
    "Bsymbolic-functions",
    "allow-multiple-definition",
    "allow-shlib-undefined",
    "as-needed",
    "build-id",
    "color-diagnostics",
    "compress-debug-sections",
    "copy-dt-needed-entries",
    "defsym",
    "disable-new-dtags",
    "discard-all",
    "discard-locals",
    "dynamic-linker",
    "dynamic-list",
    "dynamic-list-data",
    "eh-frame-hdr",
    "enable-new-dtags",
    "end-group",
    "entry",
    "exclude-libs",
    "export-dynamic",
    "export-dynamic-symbol",
    "fatal-warnings",
    "fini",
    "gc-sections",
    "gdb-index",
    "hash-style",
    "icf",
    "init",
    "library",
    "library-path",
    "no-allow-shlib-undefined",
    "no-as-needed",
    "no-copy-dt-needed-entries",
    "no-eh-frame-hdr",
    "no-export-dynamic",
    "no-fatal-warnings",
    "no-gc-sections",
    "no-keep-memory",
    "no-pie",
    "no-relax",
    "no-rosegment",
    "no-undefined",
    "no-whole-archive",
    "pack-dyn-relocs",
    "pic-executable",
    "pie",
    "pop-state",
    "push-state",
    "relax",
    "rosegment",
    "rpath",
    "rpath-link",
    "script",
    "soname",
    "sort-common",
    "sort-section",
    "start-group",
    "strip-all",
    "strip-debug",
    "thread-count",
    "threads",
    "undefined",
    "unresolved-symbols",
    "version-script",
    "warn-common",
    "warn-once",
    "warn-shared-textrel",
    "whole-archive",
    "wrap",
};
static_assert(std::is_sorted(std::begin(known), std::end(known)));

bool is_known(std::string_view word) {
  if (word.empty() || word[0] == '@')
    return false;
  if (word[0] != '-') // an input, or the value of the option before
    return true;
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const std::string_view name = word.substr(0, word.find('='));
  if (std::binary_search(std::begin(known), std::end(known), name))
    return true;
  // -soname=x is one option and -s -oname=x is none: words are not taken apart by their letters.
  return !word.empty() && letters.find(word[0]) != std::string_view::npos &&
         (word.size() == 1 || std::string_view("OLlmz").find(word[0]) != std::string_view::npos);
}

} // namespace

bool writes_program_alone(std::string_view words) {
  for (;;) {
    const std::size_t comma = words.find(',');
    if (!is_known(words.substr(0, comma)))
      return false;
    if (comma == std::string_view::npos)
      return true;
    words.remove_prefix(comma + 1);
  }
}

} // namespace perfcc
