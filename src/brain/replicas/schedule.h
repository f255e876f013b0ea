// Schedules: times at which the owner requires a minimum or maximum number of tasks.
//
//   from 0 8 * * 1-5 to 0 18 * * 1-5 in Europe/Berlin min 10 max 40 except 2026-12-24,2026-12-25
//
// A rule is in force from each time of `from` until the next time of `to`, by the clock of the zone (UTC by
// default). A time has the fields of crontab(5): minute, hour, day of the month, month, day of the week. `;`
// separates rules.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "common/base/time.h"

namespace taut::brain {

// The times of a crontab line: five fields of numbers, ranges, lists, steps and `*`. Months and days of the week
// may be English names of three letters; Sunday is 0 or 7. If both day fields are restricted, a day needs to match
// only one of them, as in cron.
class CronTimes {
 public:
  // Returns InvalidArgument with the field, its value and the allowed values, also for a day that no selected
  // month has (30 February).
  static absl::StatusOr<CronTimes> Parse(std::string_view fields);

  // Returns the latest time at or before `at`, by the zone's clock, on a day for which `counts` returns true. If
  // a clock change skips the time, returns the time of the change; if the time occurs twice, returns its first
  // occurrence. Returns nullopt if the last eight years have no matching time. O(days back).
  template <typename Counts>
  std::optional<absl::Time> LastBefore(absl::Time at, const absl::TimeZone& zone, Counts&& counts) const;

 private:
  // Returns true if some selected month has a selected day.
  bool HasDay() const;
  bool FitsDay(absl::CivilDay day) const;
  std::optional<absl::Time> LastOfDay(absl::CivilDay day, absl::Time at, const absl::TimeZone& zone) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;                      // selected days of the month; index 0 is unused
  std::bitset<13> months_;                    // selected months; index 0 is unused
  std::bitset<7> weekdays_;                   // selected days of the week; index 0 is Sunday
  bool any_day_ = true, any_weekday_ = true;  // true if the field begins with `*`
};

// Immutable; copies share the rules.
class ReplicaSchedule {
 public:
  // Parses rules; "" yields a schedule without rules. InvalidArgument contains the rule and the error.
  static absl::StatusOr<ReplicaSchedule> Parse(std::string_view text);

  bool empty() const { return rules_ == nullptr; }
  const std::string& text() const { return text_; }

  // The highest minimum and lowest maximum of the rules in force. If the minimum exceeds the maximum, the minimum
  // applies.
  struct Limits {
    std::optional<int> min, max;
    // Texts of the rules with this minimum and maximum; valid as long as the schedule exists.
    std::string_view min_rule, max_rule;
  };
  // Returns the limits at a time. O(rules * days since their last time).
  Limits At(Timestamp at) const;

 private:
  struct Rule {
    CronTimes from, to;
    absl::TimeZone zone;
    std::optional<int> min, max;
    std::vector<absl::CivilDay> except;  // days, by the zone's clock, on which the rule does not begin
    std::string text;

    bool Holds(absl::Time at) const;
  };
  static absl::StatusOr<Rule> ParseRule(std::string_view text);

  std::shared_ptr<const std::vector<Rule>> rules_;
  std::string text_;
};

}  // namespace taut::brain
