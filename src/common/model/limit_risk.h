// The risk of one limit: the forecast, and the job's own recent days. All front ends show these values.
#pragma once

#include <cstdint>
#include <optional>

namespace taut {

struct LimitRisk {
  static constexpr float kNone = -1;

  double limit = kNone;   // cores or bytes; kNone: no limit
  double chance = kNone;  // forecast chance that a day's usage exceeds the limit; kNone: no forecast
  // The limit that the forecaster evaluated, in its own scale, and the day of the decision that it used.
  // While both are unchanged, so is the forecast.
  double asked = kNone;
  int32_t decided_day = INT32_MIN;
  float most_chance = kNone;  // highest chance that is allowed; kNone: no bound
  // Share of the job's work of the last weeks above its limits, and the ordered share; kNone: the recommender
  // has no such order.
  float work_over = kNone, work_ordered = kNone;
  uint8_t days = 0;       // days observed, of the last 28
  uint8_t days_over = 0;  // days above the limit

  bool says_something() const { return chance >= 0 || work_over >= 0; }
  std::optional<double> forecast() const {
    return chance >= 0 ? std::optional<double>(chance) : std::nullopt;
  }
  // A forecast is computed as a float: the tolerance accepts exactly the highest chance.
  bool is_too_high() const { return most_chance >= 0 && chance > most_chance + 1e-6; }
  bool operator==(const LimitRisk&) const = default;
};

}  // namespace taut
