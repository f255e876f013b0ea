// The risk of one limit: the forecast, and the job's own recent days. All front ends show these values.
#pragma once

#include <cstdint>
#include <optional>

namespace taut {

struct LimitRisk {
  static constexpr float kNone = -1;

  double limit = kNone;   // cores or bytes; kNone: no limit
  double chance = kNone;  // forecast chance that a day's usage exceeds the limit; kNone: no forecast
  // The limit that the forecaster evaluated, in the forecaster's scale, and the day of the decision that the
  // forecaster used. The forecast stays valid while the limit and the day are unchanged.
  double asked = kNone;
  int32_t decided_day = INT32_MIN;
  float most_chance = kNone;  // highest allowed chance; kNone: no bound
  // Share of the job's work in the last weeks that was above its limits, and the risk target for this share;
  // kNone: the recommender has no such risk target.
  float work_over = kNone, work_ordered = kNone;
  uint8_t days = 0;       // observed days, of the last 28
  uint8_t days_over = 0;  // observed days above the limit

  bool says_something() const { return chance >= 0 || work_over >= 0; }
  std::optional<double> forecast() const {
    return chance >= 0 ? std::optional<double>(chance) : std::nullopt;
  }
  // True if the chance is above the highest allowed chance. The tolerance absorbs the rounding of the
  // forecast to a float: a chance equal to the bound is accepted.
  bool is_too_high() const { return most_chance >= 0 && chance > most_chance + 1e-6; }
  bool operator==(const LimitRisk&) const = default;
};

}  // namespace taut
