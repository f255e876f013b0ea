// Parses whole numbers that people write.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace taut {

// Returns the number; nullopt if the text is not a whole number or does not fit in int64_t.
inline std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace taut
