// Converts an amount of a window to an optional value.
#pragma once

#include <optional>

namespace taut::server {

// Returns nullopt for a negative amount, which means "absent" in windows (kAbsent).
inline std::optional<double> Known(float amount) {
  return amount >= 0 ? std::optional<double>(amount) : std::nullopt;
}

}  // namespace taut::server
