#include "brain/fleet/managed_lane.h"

namespace taut::brain {

void ManagedLane::RefreshRisk() {
  if (lane.sleeps()) return;
  const std::optional<double> limit = lane.recommended();
  LimitRisk risk = limit_risk.has_value() ? *limit_risk : LimitRisk();
  if (limit.has_value()) lane.recommender().UpdateRisk(*limit, risk);
  if (!limit.has_value() || !risk.says_something()) {
    limit_risk.reset();
  } else {
    (limit_risk.has_value() ? *limit_risk : limit_risk.emplace()) = risk;
  }
}

}  // namespace taut::brain
