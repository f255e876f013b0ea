// Small text helpers over std::string_view. (Debian builds Abseil with a string_view of its own, which does
// not mix with the standard one; here the two meet.)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace taut {

// The message of a status, as long as the status lives.
inline std::string_view Message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// All parts one after the other, as fmt's "{}" prints them.
template <typename... Parts>
std::string StrCat(Parts&&... parts) {
  std::string out;
  (fmt::format_to(std::back_inserter(out), "{}", std::forward<Parts>(parts)), ...);
  return out;
}
template <typename... Parts>
void StrAppend(std::string* out, Parts&&... parts) {
  (fmt::format_to(std::back_inserter(*out), "{}", std::forward<Parts>(parts)), ...);
}

// Without leading and trailing blanks, tabs and line ends.
std::string_view StripSpace(std::string_view text);
// The pieces between `separator`s; one empty piece for empty text.
std::vector<std::string_view> Split(std::string_view text, char separator);
// A finite decimal number and nothing else.
std::optional<double> ParseDouble(std::string_view text);

}  // namespace taut
