#include "tools/cli/json_text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/base/strings.h"

namespace taut::tools {
namespace {

bool IsPlain(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kWords = {"y",    "n",     "yes",  "no",  "on", "off",
                                                              "true", "false", "null", "inf", "nan"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !is_letter(text.front())) return false;
  if (!std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
      }))
    return false;
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c | (c >= 'A' && c <= 'Z' ? 0x20 : 0));
  return std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

std::string Flow(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }
std::string Scalar(const Json& value) {
  if (value.is_string() && IsPlain(value.get_ref<const std::string&>())) return value.get<std::string>();
  return Flow(value);
}
std::string Key(const std::string& key) { return IsPlain(key) ? key : Flow(Json(key)); }

// On one line: what is not a container, is empty, or is a list of plain figures.
bool FitsLine(const Json& value) {
  if (!value.is_structured() || value.empty()) return true;
  return value.is_array() && std::none_of(value.begin(), value.end(), [](const Json& v) {
           return v.is_object() || v.is_string() || (v.is_array() && !FitsLine(v));
         });
}

// `first` says that the text begins behind "- ", so its first line is not indented.
void Write(const Json& value, size_t indent, bool first, std::string& out) {
  const std::string blanks(indent, ' ');
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, item] : value.items()) {
      if (!std::exchange(first, false)) out += blanks;
      out += Key(key) + ":";
      if (FitsLine(item)) {
        out += " " + Scalar(item) + "\n";
      } else {
        out += "\n";
        Write(item, indent + (item.is_object() ? 2 : 0), false, out);
      }
    }
    return;
  }
  if (value.is_array() && !FitsLine(value)) {
    for (const Json& item : value) {
      if (!std::exchange(first, false)) out += blanks;
      out += "- ";
      Write(item, indent + 2, true, out);
    }
    return;
  }
  if (!first) out += blanks;
  out += Scalar(value) + "\n";
}

}  // namespace

std::string JsonText(const Json& value) {
  return value.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string YamlText(const Json& value) {
  std::string out;
  Write(value, 0, false, out);
  return out;
}

}  // namespace taut::tools
