// The few settings the launcher has to know itself. perfcc/core/settings.py reads them all, and judges them.
#pragma once

#include <string>

namespace perfcc {

struct Settings {
  std::string file;    // the nearest perfcc.toml, or empty
  std::string content; // of that file
  std::string mode;    // empty when nobody sets it
  std::string store;   // absolute
};

// The settings for a source in that directory (absolute): perfcc.toml found upwards, then the environment.
Settings load_settings(const std::string &directory);
// The settings for that source (absolute): those of the folder it is really in.
Settings load_settings_for(const std::string &source);

} // namespace perfcc
