// Recognizes memory limits that mean "no limit".
#pragma once

namespace taut {

// A memory limit of at least this many bytes means "no limit": cgroup v1 writes 2^63 less one page, and old
// versions of Docker write 2^64 - 1.
inline constexpr double kNoLimitBytes = 0x1p60;

}  // namespace taut
