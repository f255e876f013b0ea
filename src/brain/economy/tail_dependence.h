// Estimates the number of steps of a series that equal one independent sample of the series' high values.
// Consecutive high values depend on each other, so a quantile is based on fewer independent samples than steps.
#pragma once

#include <cstdint>

namespace taut::brain {

// Uses the larger of two measures:
// - runs: high steps less than an hour apart are one event (runs estimator of the extremal index: Smith and
// Weissman 1994);
// - days: the variance of the days' shares of high steps, relative to independent steps, because high days are
// high as a whole (design effect of cluster sampling: Kish 1965).
// Both measures start with a prior: a run of an hour, and two days that are worth 12 samples each. O(1), does
// not allocate.
class TailDependence {
 public:
  // `step_s` must divide a day.
  explicit TailDependence(int64_t step_s)
      : day_steps_(86'400 / step_s), hour_steps_(3600.0 / static_cast<double>(step_s)) {}
  // Adds a measured step; `step` must increase. `high` is true above a level that about one step in 20 exceeds.
  void Add(int64_t step, bool high);
  // Returns the number of steps per independent sample, in [1, steps per day].
  double StepsPerSample() const;

 private:
  double ByRuns() const;
  double ByDays() const;
  void EndDay();

  int64_t day_steps_;
  double hour_steps_;
  int64_t high_steps_ = 0, runs_ = 0, last_high_ = -1;
  int64_t day_ = -1, in_day_ = 0, high_in_day_ = 0;
  double days_ = 0, mean_ = 0, squares_ = 0;  // running statistics of the days' shares (Welford)
};

}  // namespace taut::brain
