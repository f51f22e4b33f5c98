// Just enough JSON to write a request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perfcc {

// Bytes that are no UTF-8 become lone surrogates, as Python's "surrogateescape" has them: os.fsencode gives the bytes
// back.
std::string json_string(std::string_view bytes);
std::string json_list(const std::vector<std::string> &items);

// The members of an object, in the order they are added; each value is JSON already.
class JsonObject {
public:
  JsonObject &add(std::string_view key, std::string_view json);
  std::string text() const { return body_ + "}\n"; }

private:
  std::string body_ = "{";
};

} // namespace perfcc
