#include "server/kubernetes/act/decision_events.h"

#include "server/control/actuator.h"

namespace taut::server {

std::optional<Decision> DecisionEvents::Note(const Decision& decision) {
  if (IsFinal(decision.outcome)) return decision;
  Decision& kept = decisions_[decision.id] = decision;
  kept.reason.clear();
  if (decisions_.size() > kRemembered) decisions_.erase(decisions_.begin());
  return std::nullopt;
}

std::optional<Decision> DecisionEvents::Note(const OutcomeUpdate& outcome) {
  const auto it = decisions_.find(outcome.id);
  if (it == decisions_.end() || !IsFinal(outcome.outcome) || it->second.outcome == outcome.outcome)
    return std::nullopt;
  if (outcome.outcome == Outcome::kSuperseded) {
    decisions_.erase(it);
    return std::nullopt;
  }
  it->second.outcome = outcome.outcome;
  it->second.outcome_text = outcome.text;
  return it->second;
}

}  // namespace taut::server
