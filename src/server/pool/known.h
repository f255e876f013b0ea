// An amount of a window as a value that may be absent.
#pragma once

#include <optional>

namespace taut::server {

// nullopt for a negative amount, which stands for an absent one in windows (kAbsent).
inline std::optional<double> Known(float amount) {
  return amount >= 0 ? std::optional<double>(amount) : std::nullopt;
}

}  // namespace taut::server
