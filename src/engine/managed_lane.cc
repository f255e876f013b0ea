#include "engine/managed_lane.h"

#include <algorithm>

namespace taut {

void CloseWindow(const TrialWindow& window, ManagedLane& lane) {
  CountTrialWindow(window, lane.gate);
  Signal seen = *window.signal;
  if (lane.gate.in_force.has_value()) seen.limit = lane.gate.in_force;
  if (window.applied != LimitsApplied::kNo) seen.cut_at = lane.gate.in_force;
  // Throttled tasks have a limit: without one of Tautline's it is the owner's.
  if (seen.throttled.has_value() && !seen.cut_at.has_value()) seen.cut_at = seen.owner_limit;
  lane.lane.CloseWindow(seen);
}

Verdict DecideLimit(const JobPolicy& policy, const LaneFacts& facts, ManagedLane& lane) {
  Proposal proposal{.resource = facts.resource,
                    .now_s = facts.now_s,
                    .owner_limit = facts.owner_limit,
                    .recommended = {},
                    .oom = facts.oom,
                    .num_tasks = facts.num_tasks,
                    .tasks = facts.tasks,
                    .applied = facts.applied,
                    .recommender = &lane.lane.recommender()};
  if (lane.lane.recommended().has_value() && (facts.knows_past || facts.oom)) {
    const double floor =
        std::min(lane.gate.floor, policy.bounds(facts.resource).upper.value_or(lane.gate.floor));
    proposal.recommended = std::max(*lane.lane.LimitInForce(facts.owner_limit), floor);
  }
  return Decide(policy, proposal, lane.gate);
}

uint32_t DecideWindow(const JobPolicy& policy, Resource r, const Signal& signal, bool killed,
                      ManagedLane& lane, std::vector<uint32_t>& tasks) {
  tasks.clear();
  for (const TaskUsage& t : signal.tasks) tasks.push_back(t.task);
  LaneFacts facts{.resource = r,
                  .now_s = signal.window.next().start_s(),
                  .owner_limit = signal.owner_limit,
                  .num_tasks = static_cast<uint32_t>(tasks.size()),
                  .oom = true};
  uint32_t moves = 0;
  const auto decide = [&] {
    const Verdict verdict = DecideLimit(policy, facts, lane);
    moves += verdict.kind == DecisionKind::kTry || verdict.kind == DecisionKind::kRollBack ? 1 : 0;
  };
  if (killed) decide();
  facts.oom = false;
  facts.tasks = &tasks;
  decide();
  return moves;
}

}  // namespace taut
