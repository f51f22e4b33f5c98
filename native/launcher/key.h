// The name of a unit in the store: a hash over all that decides its verdict, but for the headers, which its manifest
// lists.
#pragma once

#include "argv.h"
#include "blake2b.h"
#include "compiler.h"
#include "settings.h"

namespace perfcc {

struct KeyInput {
  const std::vector<std::string> &argv; // with every @file expanded
  std::string_view cwd;
  std::string_view compiler_identity;
  std::string_view source_text;
  std::string_view settings_text; // content of perfcc.toml
};

// Takes the settings and the compiler's variables from the environment, and the machine's label from the processor.
Digest unit_key(const KeyInput &input);

// The processor's model and the number of its threads: times measured under one label hold under no other.
std::string machine_label();

const char *version();

} // namespace perfcc
