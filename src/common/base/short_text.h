// Shortens untrusted text so that an error can quote it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace taut {

inline constexpr size_t kMostShownBytes = 128;

// Returns Printable(text); a text longer than kMostShownBytes is first cut between two characters to at most
// this size, and the result ends in "...".
inline std::string ShortText(std::string_view text) {
  if (text.size() <= kMostShownBytes) return Printable(text);
  return Printable(CutUtf8(text, kMostShownBytes)) + "...";
}

}  // namespace taut
