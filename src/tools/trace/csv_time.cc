#include "tools/trace/csv_time.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "common/base/time.h"
#include "tools/trace/csv_reader.h"

namespace taut::tools {
namespace {

struct TimeUnit {
  double from;  // if the first number of a file is at least this, the file uses the unit
  int64_t per_second;
  std::string_view name;
};
// 1e11 is in the year 5138 as seconds, and in 1973 as milliseconds, so plausible times are unambiguous.
constexpr TimeUnit kTimeUnits[] = {
    {1e17, 1'000'000'000, "nanoseconds"}, {1e14, 1'000'000, "microseconds"}, {1e11, 1000, "milliseconds"}};

// Parses `count` digits at the start of `s` and removes them. Returns false if `s` starts with fewer digits.
bool TakeDigits(std::string_view& s, size_t count, int& out) {
  if (s.size() < count) return false;
  out = 0;
  for (const char c : s.substr(0, count)) {
    if (c < '0' || c > '9') return false;
    out = out * 10 + (c - '0');
  }
  s.remove_prefix(count);
  return true;
}
bool TakeChar(std::string_view& s, std::string_view any_of) {
  if (s.empty() || any_of.find(s[0]) == std::string_view::npos) return false;
  s.remove_prefix(1);
  return true;
}

// Parses an offset such as "+02:00", "+0200" or "+02" to minutes.
bool TakeOffset(std::string_view& s, int& minutes) {
  const bool west = s.starts_with('-');
  int h = 0, m = 0;
  if (!TakeChar(s, "+-") || !TakeDigits(s, 2, h)) return false;
  const bool has_minutes = TakeChar(s, ":") || !s.empty();
  if (has_minutes && !TakeDigits(s, 2, m)) return false;
  minutes = (west ? -1 : 1) * (h * 60 + m);
  return true;
}

// Parses a time such as 2013-07-01T00:00:04[.5](Z|+02:00). A blank may replace the T; " UTC", an offset of another
// length, or nothing may replace the Z.
bool ParseDateAndTime(std::string_view s, int64_t& us) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const bool shaped = TakeDigits(s, 4, year) && TakeChar(s, "-") && TakeDigits(s, 2, month) &&
                      TakeChar(s, "-") && TakeDigits(s, 2, day) && TakeChar(s, "Tt ") &&
                      TakeDigits(s, 2, hour) && TakeChar(s, ":") && TakeDigits(s, 2, minute) &&
                      TakeChar(s, ":") && TakeDigits(s, 2, second);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!shaped || !date.ok() || hour > 23 || minute > 59 || second > 60) return false;
  int64_t micros = 0;
  if (TakeChar(s, ".")) {
    int digit = 0;
    int64_t unit = kMicrosPerSecond / 10;
    if (!TakeDigits(s, 1, digit)) return false;
    do {
      micros += digit * unit;
      unit /= 10;
    } while (TakeDigits(s, 1, digit));
  }
  int offset_minutes = 0;
  if (s == " UTC") s = {};
  if (!s.empty() && !TakeChar(s, "Zz") && !TakeOffset(s, offset_minutes)) return false;
  if (!s.empty()) return false;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = days * kDaySeconds + hour * 3600 + minute * 60 + second - offset_minutes * 60;
  us = seconds * kMicrosPerSecond + micros;
  return true;
}

// Parses a time. A number counts units of 1/`per_second` s.
bool ParseTimeIn(const CsvRow& row, int i, int64_t per_second, int64_t& us) {
  int64_t number = 0;
  if (ParseInteger(row.begin(i), row.end(i), number) == NumberKind::kNumber) [[likely]] {
    constexpr int64_t kLimit = kLatestUs / kMicrosPerSecond;
    if (number / per_second < -kLimit || number / per_second > kLimit) return false;
    us = per_second <= kMicrosPerSecond ? number * (kMicrosPerSecond / per_second)
                                        : FloorDiv(number, per_second / kMicrosPerSecond);
    return true;
  }
  double fractional = 0;
  if (ParseDecimal(row.begin(i), row.end(i), fractional) == NumberKind::kNumber) {
    fractional /= static_cast<double>(per_second);
    if (fractional > static_cast<double>(kLatestUs / kMicrosPerSecond)) return false;
    us = std::llround(fractional * static_cast<double>(kMicrosPerSecond));
    return true;
  }
  return ParseDateAndTime(Trimmed(row[i]), us);
}

}  // namespace

bool ParseCsvTime(const CsvRow& row, int i, int64_t& us) { return ParseTimeIn(row, i, 1, us); }

int64_t TimeUnitsPerSecond(double first) {
  for (const TimeUnit& unit : kTimeUnits) {
    if (first >= unit.from) return unit.per_second;
  }
  return 1;
}

std::string_view CsvClock::unit() const {
  for (const TimeUnit& unit : kTimeUnits) {
    if (unit.per_second == per_second_) return unit.name;
  }
  return {};
}

bool CsvClock::Parse(const CsvRow& row, int i, int64_t& us) {
  if (per_second_ == 0) [[unlikely]] {
    double first = 0;
    if (ParseDecimal(row.begin(i), row.end(i), first) == NumberKind::kNumber)
      per_second_ = TimeUnitsPerSecond(first);
  }
  return ParseTimeIn(row, i, std::max<int64_t>(per_second_, 1), us);
}

}  // namespace taut::tools
