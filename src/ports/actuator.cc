#include "ports/actuator.h"

namespace taut {

void DryRunActuator::Apply(std::span<const LimitOrder> orders, int64_t now_s) {
  for (const LimitOrder& o : orders) outcomes_.push_back({o.decision, Outcome::kDryRun, "", now_s});
}

}  // namespace taut
