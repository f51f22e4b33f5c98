#include "key.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

namespace perfcc {
namespace {

constexpr std::string_view format = "perfcc-unit-1";

constexpr const char *variables[] = {
    // settings
    "PERFCC_MODE", "PERFCC_BUDGET", "PERFCC_FP", "PERFCC_TRUST", "PERFCC_THREADS", "PERFCC_RULES", "PERFCC_MODEL",
    // what compilers read
    "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH",
    "SOURCE_DATE_EPOCH", "PWD", "CCC_OVERRIDE_OPTIONS", "CLANG_CONFIG_FILE_USER_DIR", "CLANG_CONFIG_FILE_SYSTEM_DIR"};

std::string processor() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned words[12] = {};
  unsigned highest = __get_cpuid_max(0x80000000U, nullptr);
  if (highest >= 0x80000004U) {
    for (unsigned leaf = 0; leaf < 3; ++leaf)
      __get_cpuid(0x80000002U + leaf, &words[4 * leaf], &words[4 * leaf + 1], &words[4 * leaf + 2],
                  &words[4 * leaf + 3]);
    char text[sizeof words + 1] = {};
    std::memcpy(text, words, sizeof words);
    return text;
  }
#endif
  struct utsname name;
  return uname(&name) == 0 ? name.machine : "";
}

// What -march=native and the like stand for: a hypervisor may mask features of the model that the label names.
std::string processor_features() {
  std::string text;
#if defined(__x86_64__) || defined(__i386__)
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0)
    text += std::to_string(c) + " " + std::to_string(d);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0)
    text += " " + std::to_string(b) + " " + std::to_string(c) + " " + std::to_string(d);
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0)
    text += " " + std::to_string(a);
  if (__get_cpuid(0x80000001U, &a, &b, &c, &d) != 0)
    text += " " + std::to_string(c) + " " + std::to_string(d);
#else
  text = std::to_string(getauxval(AT_HWCAP)) + " " + std::to_string(getauxval(AT_HWCAP2));
#endif
  return text;
}

bool is_native(const std::string &word) { return word.starts_with("-m") && word.ends_with("=native"); }

} // namespace

std::string machine_label() { return processor() + " x " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)); }

const char *version() { return PERFCC_VERSION; }

Digest unit_key(const KeyInput &input) {
  Blake2b hash;
  hash.field(format);
  hash.field(version());
  hash.field(input.compiler_identity);
  hash.field(std::to_string(input.argv.size()));
  for (const std::string &word : input.argv)
    hash.field(word);
  hash.field(input.cwd);
  hash.field(input.source_text);
  hash.field(input.settings_text);
  for (const char *variable : variables) {
    const char *value = std::getenv(variable);
    hash.field(value != nullptr ? "1" : "0");
    hash.field(value != nullptr ? value : "");
  }
  hash.field(machine_label());
  if (std::any_of(input.argv.begin(), input.argv.end(), is_native))
    hash.field(processor_features());
  return hash.finish();
}

} // namespace perfcc
