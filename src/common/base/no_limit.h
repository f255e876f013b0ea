// What sources of limits write where there is none.
#pragma once

namespace taut {

// A limit of memory of this many bytes or more stands for none: cgroup v1 writes 2^63 less a page, old Docker
// 2^64 - 1.
inline constexpr double kNoLimitBytes = 0x1p60;

}  // namespace taut
