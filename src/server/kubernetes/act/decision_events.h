// Selects the decisions to write as Events: a would-be decision when it is made, any other decision when its
// outcome is known. Each outcome is selected once. No I/O, clock or lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/model/rollout.h"

namespace taut::server {

class DecisionEvents {
 public:
  // Notes a stored decision. Returns the decision if it already has its final outcome, else nullopt.
  std::optional<Decision> Note(const Decision& decision);
  // Notes an outcome. Returns its decision with the outcome. Returns nullopt if the outcome was returned before,
  // is not final, or is kSuperseded, or if the decision is not one of the last 10,000 since the start.
  std::optional<Decision> Note(const OutcomeUpdate& outcome);

 private:
  static constexpr size_t kRemembered = 10'000;
  std::map<uint64_t, Decision> decisions_;  // decisions by id, with the last returned outcome of each
};

}  // namespace taut::server
