// Parses windows and durations in the syntax of OpenCost's API.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/api/parameters.h"

namespace taut::server {

// Parses a duration such as "86400s", "30m", "12h" or "7d" to seconds, above 0. Returns InvalidArgument, which
// names `what`, for any other text.
absl::StatusOr<int64_t> AllocationDuration(std::string_view what, std::string_view text);
// Parses a window. A window is a word (today, week, month, yesterday, lastweek or lastmonth, in UTC; weeks start
// on Sunday), or a duration that ends at `now_s`. A window may also be two times separated by a comma, in RFC 3339
// or in seconds since the epoch. Returns InvalidArgument for any other text.
absl::StatusOr<TimeSpan> AllocationWindow(std::string_view text, int64_t now_s);

}  // namespace taut::server
