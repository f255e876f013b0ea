// Promised and delivered risk of limits, and explanations of how limits were computed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "brain/fleet/fleet_state.h"
#include "common/model/limit_risk.h"
#include "common/model/reason.h"

namespace taut::brain {

// Not thread-safe, except for Count and CountKill of different lanes.
class LiveRisk {
 public:
  explicit LiveRisk(FleetState& state) : s_(state) {}
  static constexpr int kDays = 28;

  // Returns the risk of the recommended limit on `day`, as all front ends show it: the forecast if there is
  // one, with the job's own days. Otherwise the last kDays days with a recommended limit, and how many of
  // them exceeded the limit of their time.
  static LimitRisk Of(const LiveJob& job, Resource r, int32_t day);
  // Returns the provisional limit of a lane whose recommender has too little history yet. Absent if there is
  // a recommendation, or no limit is recommended at all.
  std::optional<ProvisionalLimit> ProvisionalOf(const LiveJob& job, Resource r) const;
  // Returns the explanation of a limit; empty for an unknown job.
  Reason Explain(JobId id, Resource r) const;
  // Appends the explanation of a lane. REQUIRES: the job's lanes are awake.
  void ExplainLane(const LiveJob& job, Resource r, Reason& reason) const;

  // Counts a window, or a kill, for the promise of the day. Changes only the lane, so jobs may be counted in
  // parallel.
  void Count(const Signal& signal, const LiveJob& job, Resource r, LiveLane& lane) const;
  void CountKill(const OomRecord& oom, int32_t day, const LiveJob& job, LiveLane& lane) const;
  // Ends the lane's day and adds it to the risk table. `rows`: what the lane taught the fleet models.
  void EndDay(std::span<const FleetRow> rows, LiveLane& lane);

 private:
  // Fixes the promise of a day at its first window or kill, if that is not done yet.
  void BeginDay(const LiveJob& job, RiskKey key, double limit, int32_t day, LiveLane& lane) const;

  FleetState& s_;
};

}  // namespace taut::brain
