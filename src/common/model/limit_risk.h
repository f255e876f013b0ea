// The risk of one limit: what is forecast of it, and what the job's own days were. Every face shows these values.
#pragma once

#include <cstdint>
#include <optional>

namespace taut {

struct LimitRisk {
  static constexpr float kNone = -1;

  double limit = kNone;   // of which this is; kNone: of none
  double chance = kNone;  // forecast: that usage of a day goes above the limit; kNone: no forecast
  // What the forecaster was asked, in its own scale, and the day of the decision that answers: while both stay, so
  // does the answer.
  double asked = kNone;
  int32_t decided_day = INT32_MIN;
  float most_chance = kNone;  // the highest chance that the limit may have; kNone: no bound
  // Of the job's work of the last weeks, what was above its limits, beside the share that is ordered; kNone: the
  // recommender takes no order of work.
  float work_over = kNone, work_ordered = kNone;
  uint8_t days = 0;       // the job's own, of the last 28
  uint8_t days_over = 0;  // those of them above the limit

  bool says_something() const { return chance >= 0 || work_over >= 0; }
  std::optional<double> forecast() const {
    return chance >= 0 ? std::optional<double>(chance) : std::nullopt;
  }
  // A forecast is a float: one of exactly the highest chance is allowed.
  bool is_too_high() const { return most_chance >= 0 && chance > most_chance + 1e-6; }
  bool operator==(const LimitRisk&) const = default;
};

}  // namespace taut
