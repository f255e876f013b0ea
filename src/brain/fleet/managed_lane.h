// A lane and its gate: the recommendation, and the limit in force that the gate decides. JobStepper steps both.
#pragma once

#include <optional>

#include "brain/fleet/lane.h"
#include "brain/rollout/gate.h"
#include "common/base/boxed.h"
#include "common/model/limit_risk.h"

namespace taut::brain {

// A lane with the state of its gate. Not thread-safe.
struct ManagedLane {
  explicit ManagedLane(Lane its_lane) : lane(std::move(its_lane)) {}

  Lane lane;
  GateState gate;
  // Risk of the recommended limit as of the last RefreshRisk; absent: neither a forecast nor a risk target
  // exists.
  Boxed<LimitRisk> limit_risk;

  // Returns the limit of tasks outside a trial. Absent: unlimited.
  std::optional<double> LimitInForce(std::optional<double> owner) const {
    return gate.in_force.has_value() ? gate.in_force : owner;
  }
  // Returns the trial that sets a limit on some tasks; nullptr: no trial, or a trial that sets no limit.
  const Trial* trial() const {
    return gate.trial.has_value() && !gate.trial->watched ? &*gate.trial : nullptr;
  }
  // Updates limit_risk. Call after each step that may have changed the recommended limit or its forecast.
  void RefreshRisk();
  bool knows_risk_of(double limit) const { return limit_risk.has_value() && limit_risk->limit == limit; }
  // Returns the risk for a promise about this limit. For the recommended limit, returns the risk at the time of
  // the recommendation, because the fleet models may have learnt since.
  LimitRisk RiskOf(double limit) const {
    return knows_risk_of(limit) ? *limit_risk : lane.recommender().RiskOf(limit);
  }
};

}  // namespace taut::brain
