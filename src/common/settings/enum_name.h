// Names of enum values in files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/base/strings.h"

namespace taut {

template <typename T>
struct EnumName {
  T value;
  std::string_view name;
};

// Sets `target` to the value with this name. If no value has this name, returns InvalidArgument with all
// names, but without the setting's key.
template <typename T>
absl::Status SetByName(std::span<const EnumName<T>> names, std::string_view text, T& target) {
  std::vector<std::string_view> known;
  for (const EnumName<T>& e : names) {
    known.push_back(e.name);
    if (e.name == text) {
      target = e.value;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(StrCat("\"", text, "\": expected one of ", Join(known, ", ")));
}

// Returns the name of the value; "?" if the value has no name.
template <typename T>
std::string NameIn(std::span<const EnumName<T>> names, T value) {
  for (const EnumName<T>& e : names) {
    if (e.value == value) return std::string(e.name);
  }
  return "?";
}

}  // namespace taut
