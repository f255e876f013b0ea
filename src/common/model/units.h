// Quantities as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/model/resource.h"
#include "common/model/target.h"

namespace taut {

// "7d", "12h", "30m", "90s", "2w" or a plain number of seconds. InvalidArgument otherwise.
absl::StatusOr<int64_t> ParseDurationSeconds(std::string_view text);
// "256GiB", "1.5TiB", "64MB", or a plain number of bytes.
absl::StatusOr<double> ParseBytes(std::string_view text);
// The same for the memory of a group or a pool, where 4 was meant to be 4GiB: InvalidArgument for a number without
// a unit above 0 and under 1 MiB.
absl::StatusOr<double> ParseSize(std::string_view text);
// Seconds of the trace's clock: a plain number, a duration ("14d": that long after 0), or a date
// "2013-07-15[T12:00[:00]][Z]" read as UTC.
absl::StatusOr<int64_t> ParseTime(std::string_view text);

// What ParseDurationSeconds and ParseBytes read back to the very same number, in the largest unit that
// divides it: "6h", "2w", "1536MiB".
std::string DurationText(int64_t seconds);
std::string BytesText(double bytes);

// "20 min", "3 h", "2.5 days".
std::string FormatDuration(int64_t seconds);
// Of a chance of 0 to 1: "2.7 %", "under 0.1 %", "over 99 %": no number of days shows 0 % or 100 %.
std::string FormatChance(double chance);
// "3.2 GiB", "512 MiB": three significant digits.
std::string FormatBytes(double bytes);
// "0.25 cores", "12.5 cores".
std::string FormatCores(double cores);
std::string FormatAmount(Resource r, double amount);
// The same, or "6 tasks".
std::string FormatAmount(Target target, double amount);
// "2013-07-15 14:05" when the clock can be Unix's (2000..2100), else "day 3 14:05".
std::string FormatTime(int64_t seconds);
bool LooksLikeUnixTime(int64_t seconds);
// "1,234,567".
std::string FormatCount(uint64_t n);

}  // namespace taut
