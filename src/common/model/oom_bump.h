// Estimates the memory that an OOM-killed task needed.
#pragma once

#include <algorithm>

namespace taut {

// Returns the assumed need of a task that was killed at `limit`: the larger of `limit` * `ratio` (usually
// 1.2) and `limit` + `plus_bytes` (docs/references.md, C6).
inline double OomBump(double limit, double ratio, double plus_bytes) {
  return std::max(ratio * limit, limit + plus_bytes);
}

}  // namespace taut
