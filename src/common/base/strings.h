// Small text helpers over std::string_view. (Debian builds Abseil with a string_view of its own, which does
// not mix with the standard one; here the two meet.)
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

// The message of a status, as long as the status lives.
inline std::string_view Message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// One part of StrCat: a text (a view: it must outlive the call), a character, truth value or number. A type and no
// template: a call compiles to a list of parts, and fmt's code for numbers is compiled in strings.cc alone.
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

  // As fmt's "{}" prints it.
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

// All parts one after the other, as fmt's "{}" prints them. None of them may be a view of *out.
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

// The texts (or numbers) of a range, with the separator between each two.
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

// Without leading and trailing blanks, tabs and line ends.
std::string_view StripSpace(std::string_view text);
// The pieces between `separator`s; one empty piece for empty text.
std::vector<std::string_view> Split(std::string_view text, char separator);
// A finite decimal number and nothing else.
std::optional<double> ParseDouble(std::string_view text);

}  // namespace taut
