#include "common/base/printable.h"

#include <cstdint>

#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "fmt/format.h"

namespace taut {
namespace {

bool IsControl(uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

// Returns true for marks, embeddings, overrides and isolates of the bidirectional algorithm, and for line
// separators.
bool ChangesDirection(uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

bool IsPrintableUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Utf8Character c = DecodeUtf8(text.substr(i));
    if (c.bytes == 0 || IsControl(c.code) || ChangesDirection(c.code)) return false;
    i += c.bytes;
  }
  return true;
}

std::string Printable(std::string_view text, bool keep_newlines) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const Utf8Character c = DecodeUtf8(text.substr(i));
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
