// The number from which a memory limit means "no limit".
#pragma once

namespace taut {

// A memory limit of this many bytes or more means no limit: cgroup v1 writes 2^63 less a page, old Docker
// 2^64 - 1.
inline constexpr double kNoLimitBytes = 0x1p60;

}  // namespace taut
