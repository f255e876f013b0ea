#include "common/model/units.h"

#include <cmath>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "fmt/format.h"

namespace taut {
namespace {

struct Suffix {
  std::string_view name;
  double factor;
};

// Parses a number and a suffix of the table. A number without a suffix requires the suffix "" in the table.
template <size_t N>
bool ParseWithSuffix(std::string_view text, const Suffix (&table)[N], double* value) {
  size_t digits = text.find_first_not_of("0123456789.+-eE");
  // Leave a trailing 'e' or 'E' to the suffix ("EiB"): it is not an exponent.
  if (digits == std::string_view::npos) digits = text.size();
  while (digits > 0 && (text[digits - 1] == 'e' || text[digits - 1] == 'E')) --digits;
  const std::string_view unit = StripSpace(text.substr(digits));
  const std::optional<double> number = ParseDouble(StripSpace(text.substr(0, digits)));
  if (!number.has_value()) return false;
  for (const Suffix& s : table) {
    if (unit == s.name) {
      *value = *number * s.factor;
      return true;
    }
  }
  return false;
}

std::string Significant(double value, std::string_view unit) {
  const double magnitude = std::abs(value);
  const int decimals = magnitude >= 99.95 || magnitude == 0 ? 0 : magnitude >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

}  // namespace

absl::StatusOr<int64_t> ParseDurationSeconds(std::string_view text) {
  static constexpr Suffix kUnits[] = {{"s", 1},          {"sec", 1},       {"m", 60},      {"min", 60},
                                      {"h", 3600},       {"hour", 3600},   {"d", 86'400},  {"hours", 3600},
                                      {"day", 86'400},   {"days", 86'400}, {"w", 604'800}, {"week", 604'800},
                                      {"weeks", 604'800}};
  double value = 0;
  if (ParseDouble(text) == 0.0) return 0;
  if (!ParseWithSuffix(text, kUnits, &value) || value < 0 || value > 1e11) {
    if (const std::optional<double> bare = ParseDouble(text); bare.has_value() && *bare > 0) {
      return absl::InvalidArgumentError(StrCat("\"", text, "\" is a duration without a unit; write ", text,
                                               "s, ", text, "m, ", text, "h or ", text, "d"));
    }
    return absl::InvalidArgumentError(
        StrCat("invalid duration \"", text, "\": expected 90s, 30m, 12h, 7d or 2w"));
  }
  return static_cast<int64_t>(std::llround(value));
}

absl::StatusOr<double> ParseBytes(std::string_view text) {
  static constexpr Suffix kUnits[] = {
      {"", 1},      {"B", 1},      {"KB", 1e3},  {"MB", 1e6},   {"GB", 1e9},  {"TB", 1e12},  {"KiB", kKiB},
      {"Ki", kKiB}, {"MiB", kMiB}, {"Mi", kMiB}, {"GiB", kGiB}, {"Gi", kGiB}, {"TiB", kTiB}, {"Ti", kTiB}};
  double value = 0;
  if (!ParseWithSuffix(text, kUnits, &value) || value < 0) {
    return absl::InvalidArgumentError(
        StrCat("\"", text, "\" is not an amount of memory; expected one such as 512MiB or 256GiB"));
  }
  return value;
}

absl::StatusOr<double> ParseSize(std::string_view text) {
  absl::StatusOr<double> bytes = ParseBytes(text);
  if (bytes.ok() && *bytes > 0 && *bytes < kMiB && ParseDouble(text).has_value()) {
    return absl::InvalidArgumentError(StrCat(
        "\"", text, "\" has no unit, and is under 1 MiB in bytes; expected one such as ", text, "GiB"));
  }
  return bytes;
}

absl::StatusOr<int64_t> ParseTime(std::string_view text) {
  if (text.find('-') != std::string_view::npos && text.size() >= 10 && text[0] != '-') {
    std::string_view rest = text;
    if (rest.back() == 'Z') rest.remove_suffix(1);
    absl::CivilSecond at;
    absl::CivilDay day;
    if (absl::ParseLenientCivilTime(std::string(rest), &at))
      return absl::ToUnixSeconds(absl::FromCivil(at, absl::UTCTimeZone()));
    if (absl::ParseLenientCivilTime(std::string(rest), &day))
      return absl::ToUnixSeconds(absl::FromCivil(day, absl::UTCTimeZone()));
  } else if (const std::optional<double> bare = ParseDouble(text);
             bare.has_value() && *bare >= 0 && *bare <= 1e11) {
    return static_cast<int64_t>(std::llround(*bare));
  } else if (const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text); seconds.ok()) {
    return seconds;
  }
  return absl::InvalidArgumentError(
      StrCat("\"", text, "\" is not a time; expected seconds, 14d, 2013-07-15 or 2013-07-15T12:00"));
}

std::string DurationText(int64_t seconds) {
  static constexpr struct {
    int64_t seconds;
    std::string_view name;
  } kUnits[] = {{604800, "w"}, {86400, "d"}, {3600, "h"}, {60, "m"}};
  for (const auto& unit : kUnits) {
    if (seconds != 0 && seconds % unit.seconds == 0) return StrCat(seconds / unit.seconds, unit.name);
  }
  return StrCat(seconds, "s");
}

std::string BytesText(double bytes) {
  static constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  // Dividing by 1024 is exact, and so is multiplying the result: no bit is lost.
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && std::fmod(bytes, 1024) == 0) {
    bytes /= 1024;
    ++unit;
  }
  return StrCat(bytes, kUnits[unit]);
}

std::string FormatDuration(int64_t seconds) {
  const auto s = static_cast<double>(seconds);
  if (seconds < 60) return StrCat(seconds, " s");
  if (seconds < 5400) return fmt::format("{:.0f} min", s / 60);
  if (seconds < 2 * kDaySeconds) return fmt::format("{:.3g} h", std::round(s / 360) / 10);
  return fmt::format("{:.3g} days", std::round(s / kDaySeconds * 10) / 10);
}

std::string FormatChance(double chance) {
  if (chance < 0.001) return "under 0.1 %";
  return chance >= 0.995 ? "over 99 %" : fmt::format("{:.2g} %", 100 * chance);
}

std::string FormatBytes(double bytes) {
  static constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && std::abs(bytes) >= 999.5) {
    bytes /= 1024;
    ++unit;
  }
  return Significant(bytes, kUnits[unit]);
}

std::string FormatCores(double cores) {
  if (cores != 0 && std::abs(cores) < 0.0995) return fmt::format("{:.0f} mcores", cores * 1000);
  return Significant(cores, "cores");
}

std::string FormatAmount(Resource r, double amount) {
  return InCores(r) ? FormatCores(amount) : FormatBytes(amount);
}

std::string FormatAmount(Target target, double amount) {
  if (target.is_limit()) return FormatAmount(target.resource(), amount);
  return amount == 1 ? "1 task" : StrCat(amount, " tasks");
}

bool LooksLikeUnixTime(int64_t seconds) { return seconds >= 946'684'800 && seconds < 4'102'444'800; }

std::string FormatTime(int64_t seconds) {
  if (LooksLikeUnixTime(seconds)) {
    return absl::FormatTime("%Y-%m-%d %H:%M", absl::FromUnixSeconds(seconds), absl::UTCTimeZone());
  }
  const int64_t day = FloorDiv(seconds, kDaySeconds);
  const int64_t within = seconds - day * kDaySeconds;
  return fmt::format("day {} {:02}:{:02}", day, within / 3600, within / 60 % 60);
}

std::string FormatCount(uint64_t n) {
  std::string digits = std::to_string(n);
  for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3) digits.insert(static_cast<size_t>(i), ",");
  return digits;
}

}  // namespace taut
