// Decodes and cuts UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace taut {

struct Utf8Character {
  size_t bytes = 0;  // 0 if not valid UTF-8
  uint32_t code = 0;
};

// Implements DecodeUtf8 for text whose first byte is not ASCII.
Utf8Character DecodeLongUtf8(std::string_view text);
// Decodes the first character of `text`. Overlong forms, surrogates and codes above U+10FFFF are invalid.
// REQUIRES: !text.empty().
inline Utf8Character DecodeUtf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead};
  return DecodeLongUtf8(text);
}

// Returns the longest prefix of valid UTF-8 text that has at most `most` bytes and does not split a
// character.
inline std::string_view CutUtf8(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

}  // namespace taut
