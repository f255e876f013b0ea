// Estimates the memory that an OOM-killed task needed.
#pragma once

#include <algorithm>

namespace taut {

// Returns the assumed need, which a limit has cut off: `limit` times a ratio (1.2), or `limit` plus some
// bytes, whichever is larger (docs/references.md, C6).
inline double OomBump(double limit, double ratio, double plus_bytes) {
  return std::max(ratio * limit, limit + plus_bytes);
}

}  // namespace taut
