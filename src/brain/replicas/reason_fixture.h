// Functions for tests that read the reason of a policy's last decision.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "brain/replicas/replica_policy.h"

namespace taut::brain {

inline Reason ReasonOf(const ReplicaPolicy& policy) {
  Reason reason;
  policy.Explain(reason);
  return reason;
}
inline std::string SentenceOf(const ReplicaPolicy& policy) { return ReasonOf(policy).sentence; }
// Returns the value of the fact `name`; nullopt if the reason does not contain the fact.
inline std::optional<double> FactOf(const ReplicaPolicy& policy, std::string_view name) {
  const Reason reason = ReasonOf(policy);
  for (const Fact& fact : reason.facts) {
    if (fact.name == name) return std::get<double>(fact.value);
  }
  return std::nullopt;
}

}  // namespace taut::brain
