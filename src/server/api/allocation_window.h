// Windows and durations in the syntax of OpenCost's API.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/api/parameters.h"

namespace taut::server {

// Parses "86400s", "30m", "12h" or "7d" to seconds, above 0. InvalidArgument, naming `what`, otherwise.
absl::StatusOr<int64_t> AllocationDuration(std::string_view what, std::string_view text);
// Parses a window: today, week, month, yesterday, lastweek or lastmonth (UTC; weeks begin on Sunday), a
// duration that ends at `now_s`, or two times separated by a comma, each RFC 3339 or seconds since the epoch.
// InvalidArgument otherwise.
absl::StatusOr<TimeSpan> AllocationWindow(std::string_view text, int64_t now_s);

}  // namespace taut::server
