// What is promised of limits, and what comes; and how limits came about.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "brain/fleet/fleet_state.h"
#include "common/model/limit_risk.h"
#include "common/model/reason.h"

namespace taut::brain {

class LiveRisk {
 public:
  explicit LiveRisk(FleetState& state) : s_(state) {}
  static constexpr int kDays = 28;

  // Of the recommended limit, on `day`: the forecast where there is one, with the job's own days; else its last
  // kDays days with a recommended limit, and those of them above the limit of then. What every face shows.
  static LimitRisk Of(const LiveJob& job, Resource r, int32_t day);
  // Returns the provisional limit of a lane whose recommender has too little history yet. Absent if there is a
  // recommendation, or no limit is recommended at all.
  std::optional<ProvisionalLimit> ProvisionalOf(const LiveJob& job, Resource r) const;
  // Empty for a job that is not known.
  Reason Explain(JobId id, Resource r) const;
  // REQUIRES: the job's lanes are awake.
  void ExplainLane(const LiveJob& job, Resource r, Reason& reason) const;

  // Counts a window, and a kill, for the promise of the day. Touches nothing but the lane.
  void Count(const Signal& signal, const LiveJob& job, Resource r, LiveLane& lane) const;
  void CountKill(const OomRecord& oom, int32_t day, const LiveJob& job, LiveLane& lane) const;
  // `rows`: what the lane taught the fleet.
  void EndDay(std::span<const FleetRow> rows, LiveLane& lane);

 private:
  void BeginDay(const LiveJob& job, RiskKey key, double limit, int32_t day, LiveLane& lane) const;

  FleetState& s_;
};

}  // namespace taut::brain
