#include "json.h"

namespace perfcc {
namespace {

// The length of the well-formed UTF-8 sequence at the front (Unicode 15, table 3-7), 0 if there is none.
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80; };
  const unsigned first = at(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first <= 0xDF)
    return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool second = tail(1) && !(first == 0xE0 && at(1) < 0xA0) && !(first == 0xED && at(1) > 0x9F);
    return second && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool second = tail(1) && !(first == 0xF0 && at(1) < 0x90) && !(first == 0xF4 && at(1) > 0x8F);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

void escape(std::string &text, unsigned code) {
  text += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    text += "0123456789abcdef"[code >> shift & 15U];
}

} // namespace

std::string json_string(std::string_view bytes) {
  std::string text = "\"";
  while (!bytes.empty()) {
    const auto first = static_cast<unsigned char>(bytes[0]);
    const std::size_t length = sequence_length(bytes);
    if (length == 0) {
      escape(text, 0xDC00U + first);
    } else if (first == '"' || first == '\\') {
      text += '\\';
      text += bytes[0];
    } else if (first < 0x20) {
      escape(text, first);
    } else {
      text += bytes.substr(0, length);
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text += '"';
}

std::string json_list(const std::vector<std::string> &items) {
  std::string text = "[";
  for (const std::string &item : items) {
    if (text.size() > 1)
      text += ", ";
    text += json_string(item);
  }
  return text += ']';
}

JsonObject &JsonObject::add(std::string_view key, std::string_view json) {
  if (body_.size() > 1)
    body_ += ", ";
  body_ += json_string(key);
  body_ += ": ";
  body_ += json;
  return *this;
}

} // namespace perfcc
