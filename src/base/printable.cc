#include "base/printable.h"

#include <array>
#include <cstdint>

#include "base/strings.h"

namespace taut {
namespace {

struct Decoded {
  size_t bytes = 0;  // 0: not valid UTF-8
  uint32_t code = 0;
};

// The first code point of `text`. Overlong forms, surrogates and what is past the last code point are not
// valid. REQUIRES: !text.empty().
Decoded Decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead};
  if (lead < 0xC2 || lead > 0xF4) return {};
  const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (text.size() <= more) return {};
  uint32_t code = lead & (0x3FU >> more);
  for (size_t i = 1; i <= more; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {};
    code = code << 6 | (next & 0x3FU);
  }
  constexpr std::array<uint32_t, 4> kLeast = {0, 0x80, 0x800, 0x10000};
  if (code < kLeast[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {more + 1, code};
}

bool IsControl(uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

// Marks, embeddings, overrides and isolates of the bidirectional algorithm, and the line separators.
bool ChangesDirection(uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

bool IsPrintableUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Decoded c = Decode(text.substr(i));
    if (c.bytes == 0 || IsControl(c.code) || ChangesDirection(c.code)) return false;
    i += c.bytes;
  }
  return true;
}

std::string Printable(std::string_view text, bool keep_newlines) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const Decoded c = Decode(text.substr(i));
    if (keep_newlines && c.code == '\n') {
      out += '\n';
    } else if (c.bytes == 0 || (c.bytes == 1 && IsControl(c.code))) {
      StrAppend(&out, fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i])));
    } else if (IsControl(c.code) || ChangesDirection(c.code)) {
      StrAppend(&out, fmt::format("\\u{{{:04x}}}", c.code));
    } else {
      out += text.substr(i, c.bytes);
    }
    i += c.bytes == 0 ? 1 : c.bytes;
  }
  return out;
}

}  // namespace taut
