// How many steps of a series are worth one independent sample of its high values: the divisor without which a
// quantile seems to rest on more than it does.
#pragma once

#include <cstdint>

namespace taut::brain {

// Two measures, of which the larger counts:
// - runs: high steps that are less than an hour apart are one event (runs estimator of the extremal index: Smith
//   and Weissman 1994);
// - days: the variance of the days' shares of high steps over that of as many independent steps (design effect
//   of cluster sampling: Kish 1965), since high days are high as a whole.
// Both start from a prior of an hour's run and two days worth 12 samples each. O(1), no allocation.
class TailDependence {
 public:
  // `step_s` divides a day.
  explicit TailDependence(int64_t step_s)
      : day_steps_(86'400 / step_s), hour_steps_(3600.0 / static_cast<double>(step_s)) {}
  // A measured step; `step` increases. `high`: above a level that about one step in 20 is above.
  void Add(int64_t step, bool high);
  // [1, day's steps].
  double StepsPerSample() const;

 private:
  double ByRuns() const;
  double ByDays() const;
  void EndDay();

  int64_t day_steps_;
  double hour_steps_;
  int64_t high_steps_ = 0, runs_ = 0, last_high_ = -1;
  int64_t day_ = -1, in_day_ = 0, high_in_day_ = 0;
  double days_ = 0, mean_ = 0, squares_ = 0;  // of the days' shares (Welford)
};

}  // namespace taut::brain
