// The times of OpenCost's API: windows and durations as text.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/api/parameters.h"

namespace taut::server {

// "86400s", "30m", "12h", "7d", in seconds; > 0. InvalidArgument naming `what` otherwise.
absl::StatusOr<int64_t> AllocationDuration(std::string_view what, std::string_view text);
// today, week, month, yesterday, lastweek, lastmonth (of UTC; weeks begin on Sunday), a duration up to
// `now_s`, or two times with a comma, each RFC 3339 or seconds of the Unix epoch. InvalidArgument otherwise.
absl::StatusOr<TimeSpan> AllocationWindow(std::string_view text, int64_t now_s);

}  // namespace taut::server
