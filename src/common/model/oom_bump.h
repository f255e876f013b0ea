// What an OOM kill says of the memory that was needed.
#pragma once

#include <algorithm>

namespace taut {

// Usage is cut at the limit, so what a task that was killed at `limit` needed is taken to be more than that by a
// ratio (1.2) and by at least some bytes (docs/references.md, C6).
inline double OomBump(double limit, double ratio, double plus_bytes) {
  return std::max(ratio * limit, limit + plus_bytes);
}

}  // namespace taut
