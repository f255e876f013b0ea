#include "base/printable.h"

#include <array>
#include <cstdint>

namespace taut {

bool IsPrintableUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) {
      if (lead < 0x20 || lead == 0x7F) return false;
      continue;
    }
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4) return false;
    uint32_t code = lead & (0x3FU >> more);
    for (int k = 0; k < more; ++k) {
      if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return false;
      code = code << 6 | (static_cast<unsigned char>(text[i++]) & 0x3FU);
    }
    // Overlong forms, surrogates, C1 controls, and past the last code point.
    constexpr std::array<uint32_t, 4> kLeast = {0, 0xA0, 0x800, 0x10000};
    if (code < kLeast[static_cast<size_t>(more)] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      return false;
    }
  }
  return true;
}

}  // namespace taut
