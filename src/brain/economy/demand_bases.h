// Forecasts (bases) of the high use of the higher tiers over a horizon, from their past use. The actuary adds a
// margin to a base. The margin absorbs a constant error, so that a base only has to rank times correctly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace taut::brain {

inline constexpr size_t kDemandBases = 5;

// Mean deviation in each time slot of a season, and the slowly decaying error of these means (AR(1) per step). A
// slot lasts half an hour, or one step if a step is longer.
class SeasonProfile {
 public:
  // Creates `slots` time slots of `slot_steps` steps each. The mean of a slot averages over about `memory`
  // seasons.
  SeasonProfile(int64_t slots, int64_t slot_steps, double memory, int64_t hour_steps);
  // Adds a step. `deviation` is the use less the level to which the caller adds ForecastAt's result; NaN if not
  // measured.
  void Add(int64_t step, double deviation);
  // Returns the forecast deviation at `step`, which is `ahead` >= 1 steps after the last added step.
  double ForecastAt(int64_t step, int64_t ahead) const;
  // Returns the factor by which the error of the means decays per step.
  double persistence() const { return persistence_; }

 private:
  size_t SlotOf(int64_t step) const;

  int64_t slot_steps_, hour_steps_;
  double gain_, least_gain_;
  std::vector<float> mean_, visits_;
  std::vector<double> errors_;  // smoothed errors of the last hour, by step
  double error_ = 0, persistence_ = 0, product_ = 0, square_ = 0;
  int64_t errors_seen_ = 0;
};

// The bases of one actuary. Not thread-safe. Does not allocate after construction.
class DemandBases {
 public:
  DemandBases(int64_t step_s, int64_t horizon_steps, double promise);
  void Add(double use);  // adds the next step; NaN if not measured
  // Writes the bases for the horizon after the last step. O(min(horizon, 336)); does not allocate.
  void Forecast(std::array<double, kDemandBases>& out) const;
  // Returns the measured share of the last day, [0, 1].
  double MeasuredOfDay() const;
  static std::string_view NameOf(size_t base);

 private:
  double WeekMean() const { return week_.n > 0 ? week_.sum / static_cast<double>(week_.n) : 0; }
  double DayMean() const { return day_.n > 0 ? day_.sum / static_cast<double>(day_.n) : WeekMean(); }
  double HighOfCurve(const SeasonProfile& profile, double level) const;
  void EndDay();

  struct Sum {
    double sum = 0;
    int64_t n = 0;
  };
  int64_t day_steps_, horizon_steps_;
  double promise_;
  std::vector<double> ring_;  // use of the last week, by step
  int64_t step_ = 0;
  Sum day_, week_;
  SeasonProfile daily_, weekly_;
  std::array<double, 7> highs_ = {};  // the `promise_` quantile of use on each of the last 7 days
  int64_t days_ = 0;
  std::vector<double> scratch_;  // buffer for the use of one day
};

}  // namespace taut::brain
