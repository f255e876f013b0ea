// A lane behind its gate: what the recommender asks for, what policy lets through, and the limit that tasks
// run at. JobStepper steps it.
#pragma once

#include <optional>

#include "brain/fleet/lane.h"
#include "brain/rollout/gate.h"
#include "common/base/boxed.h"
#include "common/model/limit_risk.h"

namespace taut::brain {

struct ManagedLane {
  explicit ManagedLane(Lane its_lane) : lane(std::move(its_lane)) {}

  Lane lane;
  GateState gate;
  // Of the recommended limit, as RefreshRisk last found it; absent: nothing is forecast of it or ordered.
  Boxed<LimitRisk> limit_risk;

  // Of the tasks outside a trial. Absent: unlimited.
  std::optional<double> LimitInForce(std::optional<double> owner) const {
    return gate.in_force.has_value() ? gate.in_force : owner;
  }
  // The trial that runs on some tasks; nullptr: none does, or it is only watched.
  const Trial* trial() const {
    return gate.trial.has_value() && !gate.trial->watched ? &*gate.trial : nullptr;
  }
  // After each step that may have moved the recommended limit or what is forecast of it.
  void RefreshRisk();
  bool knows_risk_of(double limit) const { return limit_risk.has_value() && limit_risk->limit == limit; }
  // What a promise of this limit is stated of. Of the recommended limit it is as of its decision, although the
  // fleet may have learnt since.
  LimitRisk RiskOf(double limit) const {
    return knows_risk_of(limit) ? *limit_risk : lane.recommender().RiskOf(limit);
  }
};

}  // namespace taut::brain
