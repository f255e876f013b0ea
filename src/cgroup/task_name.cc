#include "cgroup/task_name.h"

#include <cstdint>

#include "fmt/format.h"

namespace taut {
namespace {

// The least that needs so many bytes more; below 0xA0 are control characters.
constexpr uint32_t kLeast[] = {0x20, 0xA0, 0x800, 0x10000};

}  // namespace

bool IsTaskName(std::string_view text) { return text.size() <= kMaxTaskNameBytes && IsPrintable(text); }

bool IsPrintable(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    size_t more = 0;
    uint32_t code = lead;
    if (lead >= 0xF0 && lead < 0xF8) {
      more = 3;
      code = lead & 0x07;
    } else if (lead >= 0xE0 && lead < 0xF0) {
      more = 2;
      code = lead & 0x0F;
    } else if (lead >= 0xC0 && lead < 0xE0) {
      more = 1;
      code = lead & 0x1F;
    } else if (lead >= 0x80) {
      return false;
    }
    if (i + more >= text.size()) return false;
    for (size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      code = code << 6 | (next & 0x3F);
    }
    if (code < kLeast[more] || code == 0x7F || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF)
      return false;
    i += more + 1;
  }
  return !text.empty();
}

std::string Shown(std::string_view text) {
  if (IsPrintable(text)) return std::string(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x20 && byte < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace taut
