// Selects the decisions to write as Events. A decision that is only shown is selected when it is made,
// another decision when its outcome is known. Each outcome is selected once. Values only: no I/O, clock or
// lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/model/rollout.h"

namespace taut::server {

class DecisionEvents {
 public:
  // Call when a decision was stored. Returns the decision if it already has its final outcome.
  std::optional<Decision> Note(const Decision& decision);
  // Call for each outcome. Returns the outcome's decision, with the outcome set. Returns nullopt if this
  // outcome was returned before, is not final, or is kSuperseded. Also returns nullopt if the decision is not
  // among the last 10,000 since the start.
  std::optional<Decision> Note(const OutcomeUpdate& outcome);

 private:
  static constexpr size_t kRemembered = 10'000;
  std::map<uint64_t, Decision> decisions_;  // each decision with its last returned outcome
};

}  // namespace taut::server
