#include "trace/csv_time.h"

#include <chrono>
#include <cmath>
#include <string_view>

#include "base/time.h"
#include "trace/csv_reader.h"

namespace taut {
namespace {

// Exactly `count` digits from the front.
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

// 2013-07-01T00:00:04[.5](Z|+02:00); a blank may stand for the T.
bool ParseRfc3339(std::string_view s, int64_t& us) {
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
  if (!TakeChar(s, "Zz")) {
    const bool west = s.starts_with('-');
    int h = 0, m = 0;
    if (!TakeChar(s, "+-") || !TakeDigits(s, 2, h) || !TakeChar(s, ":") || !TakeDigits(s, 2, m)) return false;
    offset_minutes = (west ? -1 : 1) * (h * 60 + m);
  }
  if (!s.empty()) return false;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = days * kDaySeconds + hour * 3600 + minute * 60 + second - offset_minutes * 60;
  us = seconds * kMicrosPerSecond + micros;
  return true;
}

}  // namespace

bool ParseCsvTime(const CsvRow& row, int i, int64_t& us) {
  int64_t seconds = 0;
  if (ParseInteger(row.begin(i), row.end(i), seconds) == NumberKind::kNumber) [[likely]] {
    constexpr int64_t kLimit = kLatestUs / kMicrosPerSecond;
    if (seconds < -kLimit || seconds > kLimit) return false;
    us = seconds * kMicrosPerSecond;
    return true;
  }
  double fractional = 0;
  if (ParseDecimal(row.begin(i), row.end(i), fractional) == NumberKind::kNumber) {
    if (fractional > static_cast<double>(kLatestUs / kMicrosPerSecond)) return false;
    us = std::llround(fractional * static_cast<double>(kMicrosPerSecond));
    return true;
  }
  return ParseRfc3339(Trimmed(row[i]), us);
}

}  // namespace taut
