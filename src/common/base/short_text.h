// How an error quotes what someone sent: as much of it as people read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace taut {

inline constexpr size_t kMostShownBytes = 128;

// Printable, of text of up to kMostShownBytes; of longer text the first characters within them, and "...".
inline std::string ShortText(std::string_view text) {
  if (text.size() <= kMostShownBytes) return Printable(text);
  return Printable(CutUtf8(text, kMostShownBytes)) + "...";
}

}  // namespace taut
