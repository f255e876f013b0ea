// Times at which the owner asks for a least or a greatest number of tasks.
//
//   from 0 8 * * 1-5 to 0 18 * * 1-5 in Europe/Berlin min 10 max 40 except 2026-12-24,2026-12-25
//
// A rule is in force from each time of `from` (minute, hour, day of the month, month, day of the week, as in
// crontab(5)) until the next time of `to`, by the clock of the zone. Several rules are separated by `;`.
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

// Five fields of numbers, ranges, lists, steps and `*`; months and days of the week also by their English
// names of three letters; Sunday is 0 or 7. Where both days are restricted, either suffices, as in cron.
class CronTimes {
 public:
  // InvalidArgument names the field, its value and what is allowed, or a day that no month has (30 February).
  static absl::StatusOr<CronTimes> Parse(std::string_view fields);

  // The latest time at or before `at`, by the zone's clock, on a day that `counts`. A time that a change of
  // the clock skips is at the change; of one that comes twice, the first. nullopt: none in eight years.
  // O(days back).
  template <typename Counts>
  std::optional<absl::Time> LastBefore(absl::Time at, const absl::TimeZone& zone, Counts&& counts) const;

 private:
  // Whether a month that is set has a day that is set.
  bool HasDay() const;
  bool FitsDay(absl::CivilDay day) const;
  std::optional<absl::Time> LastOfDay(absl::CivilDay day, absl::Time at, const absl::TimeZone& zone) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;                      // from 1
  std::bitset<13> months_;                    // from 1
  std::bitset<7> weekdays_;                   // Sunday first
  bool any_day_ = true, any_weekday_ = true;  // `*`
};

// Copies share the rules.
class ReplicaSchedule {
 public:
  // "": no rule. InvalidArgument names the rule and what is wrong with it.
  static absl::StatusOr<ReplicaSchedule> Parse(std::string_view text);

  bool empty() const { return rules_ == nullptr; }
  const std::string& text() const { return text_; }

  // Of the rules in force: the highest minimum and the lowest maximum. A minimum above a maximum wins.
  struct Limits {
    std::optional<int> min, max;
    std::string_view min_rule, max_rule;  // their texts; good as long as the schedule
  };
  Limits At(Timestamp at) const;

 private:
  struct Rule {
    CronTimes from, to;
    absl::TimeZone zone;
    std::optional<int> min, max;
    std::vector<absl::CivilDay> except;  // days, by the zone's clock, on which it does not begin
    std::string text;

    bool Holds(absl::Time at) const;
  };
  static absl::StatusOr<Rule> ParseRule(std::string_view text);

  std::shared_ptr<const std::vector<Rule>> rules_;
  std::string text_;
};

}  // namespace taut::brain
