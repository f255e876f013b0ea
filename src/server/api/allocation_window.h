// Parsers of windows and durations in the syntax of OpenCost's API.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/api/parameters.h"

namespace taut::server {

// Parses "86400s", "30m", "12h" or "7d" and returns the seconds, above 0. For any other text returns
// InvalidArgument, which names `what`.
absl::StatusOr<int64_t> AllocationDuration(std::string_view what, std::string_view text);
// Parses a window. It may be a word (today, week, month, yesterday, lastweek or lastmonth, in UTC; weeks
// begin on Sunday), or a duration that ends at `now_s`. Or it is two times separated by a comma, each in RFC
// 3339 or in seconds since the epoch. InvalidArgument for any other text.
absl::StatusOr<TimeSpan> AllocationWindow(std::string_view text, int64_t now_s);

}  // namespace taut::server
