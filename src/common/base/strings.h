// Small text helpers over std::string_view. They replace Abseil's helpers, because Debian builds Abseil with a
// string_view of its own, which does not convert to std::string_view.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"

namespace taut {

// Returns the message of a status as a view, valid as long as the status.
inline std::string_view Message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// One part of StrCat: a text (a view, which must outlive the call), a character, a bool or a number. TextPart is a
// type, not a template, so that a call compiles to a list of parts, and only strings.cc compiles fmt's code for
// numbers.
class TextPart {
 public:
  TextPart(std::string_view text) : kind_(Kind::kText), text_(text) {}
  TextPart(const std::string& text) : kind_(Kind::kText), text_(text) {}
  TextPart(const char* text) : kind_(Kind::kText), text_(text) {}
  TextPart(char c) : kind_(Kind::kChar), char_(c) {}
  TextPart(bool value) : kind_(Kind::kBool), bool_(value) {}
  TextPart(double value) : kind_(Kind::kDouble), double_(value) {}
  TextPart(float value) : kind_(Kind::kFloat), float_(value) {}
  template <std::integral T>
  TextPart(T value) : kind_(std::is_signed_v<T> ? Kind::kSigned : Kind::kUnsigned) {
    if constexpr (std::is_signed_v<T>) {
      signed_ = value;
    } else {
      unsigned_ = value;
    }
  }

  // Appends the part as fmt's "{}" prints it.
  void AppendTo(std::string* out) const;

 private:
  enum class Kind : uint8_t { kText, kChar, kBool, kDouble, kFloat, kSigned, kUnsigned };

  Kind kind_;
  union {
    std::string_view text_;
    char char_;
    bool bool_;
    double double_;
    float float_;
    int64_t signed_;
    uint64_t unsigned_;
  };
};

// Concatenate all parts as fmt's "{}" prints them. StrAppend REQUIRES: no part is a view of *out.
std::string StrCat(std::initializer_list<TextPart> parts);
void StrAppend(std::string* out, std::initializer_list<TextPart> parts);
template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  return StrCat(std::initializer_list<TextPart>{TextPart(parts)...});
}
template <typename... Parts>
void StrAppend(std::string* out, const Parts&... parts) {
  StrAppend(out, std::initializer_list<TextPart>{TextPart(parts)...});
}

// Returns the texts or numbers of a range with the separator between them.
template <typename Range>
std::string Join(const Range& parts, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) out += separator;
    first = false;
    TextPart(part).AppendTo(&out);
  }
  return out;
}

// Returns a view without leading and trailing blanks, tabs and line ends.
std::string_view StripSpace(std::string_view text);
// Returns views of the pieces between separators. Empty text yields one empty piece.
std::vector<std::string_view> Split(std::string_view text, char separator);
// Parses a text that is a finite decimal number with an optional sign; nullopt for any other text. Ignores the
// locale.
std::optional<double> ParseDouble(std::string_view text);

}  // namespace taut
