// Promised and delivered risk of limits, and explanations of limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "brain/fleet/fleet_state.h"
#include "common/model/limit_risk.h"
#include "common/model/reason.h"

namespace taut::brain {

// Counts and explains risk. Not thread-safe, except for concurrent calls of Count and CountKill with different
// lanes.
class LiveRisk {
 public:
  explicit LiveRisk(FleetState& state) : s_(state) {}
  static constexpr int kDays = 28;

  // Returns the risk of the recommended limit on `day`, for all front ends. With a forecast, returns the
  // forecast and the job's own days. Otherwise returns the number of days with a recommended limit among the
  // last kDays, and the number of these days on which usage exceeded the limit.
  static LimitRisk Of(const LiveJob& job, Resource r, int32_t day);
  // Returns the provisional limit of a lane whose recommender has too little history yet. Absent if there is a
  // recommendation, if the mode is off, or if the job sleeps or needs history.
  std::optional<ProvisionalLimit> ProvisionalOf(const LiveJob& job, Resource r) const;
  // Returns the explanation of a limit; empty for an unknown job.
  Reason Explain(JobId id, Resource r) const;
  // Appends the explanation of a lane. REQUIRES: the job's lanes are awake.
  void ExplainLane(const LiveJob& job, Resource r, Reason& reason) const;

  // Counts a window or a kill for the promise of the day. Only the lane changes, so several threads may count
  // different jobs.
  void Count(const Signal& signal, const LiveJob& job, Resource r, LiveLane& lane) const;
  void CountKill(const OomRecord& oom, int32_t day, const LiveJob& job, LiveLane& lane) const;
  // Ends the lane's day and adds the day to the risk table. `rows`: rows for the fleet models that the lane's
  // recommender returned.
  void EndDay(std::span<const FleetRow> rows, LiveLane& lane);

 private:
  // Sets the promise of a day at the day's first window or kill; no effect for later windows.
  void BeginDay(const LiveJob& job, RiskKey key, double limit, int32_t day, LiveLane& lane) const;

  FleetState& s_;
};

}  // namespace taut::brain
