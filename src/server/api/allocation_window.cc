#include "server/api/allocation_window.h"

#include <optional>

#include "absl/time/time.h"
#include "common/base/strings.h"
#include "common/base/time.h"

namespace taut::server {
namespace {

constexpr int64_t kFarTime = int64_t{1} << 40;

std::optional<int64_t> Duration(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const std::optional<int64_t> number = WholeNumber(text.substr(0, text.size() - 1));
  const char unit = text.back();
  const int64_t seconds = unit == 's'   ? 1
                          : unit == 'm' ? 60
                          : unit == 'h' ? 3600
                          : unit == 'd' ? kDaySeconds
                                        : 0;
  if (!number.has_value() || seconds == 0 || *number <= 0 || *number > 1'000'000'000) return std::nullopt;
  return *number * seconds <= kFarTime ? std::optional(*number * seconds) : std::nullopt;
}

std::optional<int64_t> TimeOf(std::string_view text) {
  if (const std::optional<int64_t> s = WholeNumber(text); s.has_value())
    return *s >= -kFarTime && *s <= kFarTime ? s : std::nullopt;
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, std::string(text), &time, &error)) return std::nullopt;
  const int64_t s = absl::ToUnixSeconds(time);
  return s >= -kFarTime && s <= kFarTime ? std::optional(s) : std::nullopt;
}

std::optional<TimeSpan> Named(std::string_view text, int64_t now_s) {
  const absl::CivilSecond now = absl::ToCivilSecond(absl::FromUnixSeconds(now_s), absl::UTCTimeZone());
  const auto seconds = [](absl::CivilDay day) {
    return absl::ToUnixSeconds(absl::FromCivil(day, absl::UTCTimeZone()));
  };
  const absl::CivilDay today(now);
  const absl::CivilDay sunday = absl::PrevWeekday(today + 1, absl::Weekday::sunday);
  const absl::CivilMonth month(now);
  if (text == "today") return TimeSpan{seconds(today), now_s};
  if (text == "yesterday") return TimeSpan{seconds(today - 1), seconds(today)};
  if (text == "week") return TimeSpan{seconds(sunday), now_s};
  if (text == "lastweek") return TimeSpan{seconds(sunday - 7), seconds(sunday)};
  if (text == "month") return TimeSpan{seconds(absl::CivilDay(month)), now_s};
  if (text == "lastmonth")
    return TimeSpan{seconds(absl::CivilDay(month - 1)), seconds(absl::CivilDay(month))};
  return std::nullopt;
}

}  // namespace

absl::StatusOr<int64_t> AllocationDuration(std::string_view what, std::string_view text) {
  const std::optional<int64_t> s = Duration(text);
  if (s.has_value()) return *s;
  return absl::InvalidArgumentError(
      StrCat("invalid ", what, "=", text, ": expected a duration such as 30m, 12h or 7d"));
}

absl::StatusOr<TimeSpan> AllocationWindow(std::string_view text, int64_t now_s) {
  if (const std::optional<TimeSpan> named = Named(text, now_s); named.has_value()) return *named;
  if (const std::optional<int64_t> s = Duration(text); s.has_value()) return TimeSpan{now_s - *s, now_s};
  if (const size_t comma = text.find(','); comma != std::string_view::npos) {
    const std::optional<int64_t> from = TimeOf(text.substr(0, comma)), to = TimeOf(text.substr(comma + 1));
    if (from.has_value() && to.has_value() && *from < *to) return TimeSpan{*from, *to};
  }
  return absl::InvalidArgumentError(StrCat(
      "invalid window=", text,
      ": expected today, yesterday, week, lastweek, month, lastmonth, a duration such as 7d, or two times "
      "(RFC 3339 or Unix seconds), the earlier first, with a comma"));
}

}  // namespace taut::server
