// Parses and formats quantities as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/model/resource.h"
#include "common/model/target.h"

namespace taut {

// Parses "7d", "12h", "30m", "90s", "2w" or "0" to seconds. InvalidArgument otherwise, also for a number
// other than 0 without a unit.
absl::StatusOr<int64_t> ParseDurationSeconds(std::string_view text);
// Parses "256GiB", "1.5TiB", "64MB" or a plain number of bytes. InvalidArgument otherwise.
absl::StatusOr<double> ParseBytes(std::string_view text);
// Parses bytes for the memory of a group or a pool, for which "4" is probably a mistake for "4GiB". Returns
// InvalidArgument also for a number above 0 and below 1 MiB that has no unit.
absl::StatusOr<double> ParseSize(std::string_view text);
// Parses a time to seconds of the trace's clock: a plain number, a duration since time 0 ("14d"), or a date
// "2013-07-15[T12:00[:00]][Z]" in UTC. InvalidArgument otherwise.
absl::StatusOr<int64_t> ParseTime(std::string_view text);

// Return text that ParseDurationSeconds and ParseBytes parse to exactly the same number, in the largest unit
// that divides it: "6h", "2w", "1536MiB".
std::string DurationText(int64_t seconds);
std::string BytesText(double bytes);

// Returns "20 min", "3 h" or "2.5 days".
std::string FormatDuration(int64_t seconds);
// Formats a chance of 0 to 1: "2.7 %", "under 0.1 %", "over 99 %". No number of observed days proves 0 % or
// 100 %.
std::string FormatChance(double chance);
// Returns "3.20 GiB" or "512 MiB": three significant digits.
std::string FormatBytes(double bytes);
// Returns "0.25 cores" or "12.5 cores"; "50 mcores" below 0.1.
std::string FormatCores(double cores);
// Formats bytes or cores.
std::string FormatAmount(Resource r, double amount);
// Formats an amount of the target's resource, or "6 tasks".
std::string FormatAmount(Target target, double amount);
// Returns "2013-07-15 14:05" if `seconds` can be a Unix time (years 2000 to 2099), else "day 3 14:05".
std::string FormatTime(int64_t seconds);
// Returns true if the time is in the years 2000 to 2099 as Unix time. Smaller times count from the start of a
// trace.
bool LooksLikeUnixTime(int64_t seconds);
// Returns "1,234,567".
std::string FormatCount(uint64_t n);

}  // namespace taut
