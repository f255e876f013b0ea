// Selects the decisions to write as Events: one that is only shown when it is made, others when their outcome
// is known, and each outcome once. Values only: no I/O, clock or lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/model/rollout.h"

namespace taut::server {

class DecisionEvents {
 public:
  // Call when a decision was stored. Returns it if it has its final outcome already.
  std::optional<Decision> Note(const Decision& decision);
  // Call for an outcome. Returns the decision with it. nullopt if it was returned before, is not final, or
  // belongs to a decision that is not remembered, as after a restart (the last 10,000 are).
  std::optional<Decision> Note(const OutcomeUpdate& outcome);

 private:
  static constexpr size_t kRemembered = 10'000;
  std::map<uint64_t, Decision> decisions_;  // with the last returned outcome
};

}  // namespace taut::server
