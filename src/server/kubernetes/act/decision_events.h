// Which decisions are Events now: one that is only shown when it is made, another when its outcome is known, and
// each outcome once. Values only: no I/O, clock or lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/model/rollout.h"

namespace taut::server {

class DecisionEvents {
 public:
  // That of a decision that was stored just now.
  std::optional<Decision> Note(const Decision& decision);
  // The decision with this outcome. nullopt: it is said already, is no end, or is of a decision that is not
  // remembered, as of one from before a restart.
  std::optional<Decision> Note(const OutcomeUpdate& outcome);

 private:
  static constexpr size_t kRemembered = 10'000;
  std::map<uint64_t, Decision> decisions_;  // with the outcome that was said last
};

}  // namespace taut::server
