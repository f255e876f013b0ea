#include "common/base/strings.h"

#include <charconv>
#include <cmath>
#include <iterator>

#include "fmt/format.h"

namespace taut {

void TextPart::AppendTo(std::string* out) const {
  switch (kind_) {
    case Kind::kText:
      out->append(text_);
      return;
    case Kind::kChar:
      out->push_back(char_);
      return;
    case Kind::kBool:
      out->append(bool_ ? "true" : "false");
      return;
    case Kind::kDouble:
      fmt::format_to(std::back_inserter(*out), "{}", double_);
      return;
    case Kind::kFloat:
      fmt::format_to(std::back_inserter(*out), "{}", float_);
      return;
    case Kind::kSigned: {
      const fmt::format_int text(signed_);
      out->append(text.data(), text.size());
      return;
    }
    case Kind::kUnsigned: {
      const fmt::format_int text(unsigned_);
      out->append(text.data(), text.size());
      return;
    }
  }
}

void StrAppend(std::string* out, std::initializer_list<TextPart> parts) {
  for (const TextPart& part : parts) part.AppendTo(out);
}

std::string StrCat(std::initializer_list<TextPart> parts) {
  std::string out;
  StrAppend(&out, parts);
  return out;
}

std::string_view StripSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::optional<double> ParseDouble(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace taut
