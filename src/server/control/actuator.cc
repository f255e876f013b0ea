#include "server/control/actuator.h"

namespace taut::server {

void DryRunActuator::Apply(std::span<const TargetOrder> orders, int64_t now_s) {
  for (const TargetOrder& o : orders) {
    if (!IsFinal(o.known)) outcomes_.push_back({o.decision, Outcome::kDryRun, "", now_s});
  }
}

}  // namespace taut::server
