#include "settings.h"

#include "files.h"

#include <cstdlib>
#include <pwd.h>
#include <string_view>
#include <unistd.h>

namespace perfcc {
namespace {

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The value of a top-level `key = "string"` of a TOML document; empty for anything harder, which the full reader will
// judge.
std::string top_level_string(std::string_view document, std::string_view key) {
  while (!document.empty()) {
    const std::size_t end = document.find('\n');
    const std::string_view line = trimmed(document.substr(0, end));
    document = end == std::string_view::npos ? std::string_view() : document.substr(end + 1);
    if (line.starts_with('['))
      break;
    if (!line.starts_with(key))
      continue;
    const std::string_view rest = trimmed(line.substr(key.size()));
    if (!rest.starts_with('='))
      continue;
    const std::string_view value = trimmed(rest.substr(1));
    if (value.size() < 2 || (value[0] != '"' && value[0] != '\''))
      return "";
    const std::size_t close = value.find(value[0], 1);
    const std::string_view inner = value.substr(1, close == std::string_view::npos ? 0 : close - 1);
    return value[0] == '"' && inner.find('\\') != std::string_view::npos ? "" : std::string(inner);
  }
  return "";
}

std::string home() {
  const std::string value = environment("HOME");
  return value.starts_with('/') ? value : "/"; // a relative one would put a store into every directory of a build
}

std::string expand_user(const std::string &path) {
  return path == "~" || path.starts_with("~/") ? home() + path.substr(1) : path;
}

std::string default_store() {
  const std::string cache = environment("XDG_CACHE_HOME");
  return (cache.starts_with('/') ? cache : home() + "/.cache") + "/perfcc";
}

} // namespace

Settings load_settings(const std::string &directory) {
  Settings settings;
  for (std::string at = directory; !at.empty();) {
    const std::string path = (at == "/" ? "" : at) + "/perfcc.toml";
    if (access(path.c_str(), F_OK) == 0 && read_file(path, settings.content)) {
      settings.file = path;
      break;
    }
    if (at == "/")
      break;
    at = directory_of(at);
  }
  settings.mode = environment("PERFCC_MODE");
  if (settings.mode.empty())
    settings.mode = top_level_string(settings.content, "mode");

  const std::string wanted = environment("PERFCC_STORE");
  const std::string configured = top_level_string(settings.content, "store");
  if (!wanted.empty())
    settings.store = absolute(expand_user(wanted), working_directory());
  else if (!configured.empty())
    settings.store = absolute(expand_user(configured), directory_of(settings.file));
  else
    settings.store = absolute(default_store(), working_directory());
  return settings;
}

Settings load_settings_for(const std::string &source) {
  const std::string folder(directory_of(source));
  const std::string real = real_path(folder);
  return load_settings(real.empty() ? folder : real);
}

} // namespace perfcc
