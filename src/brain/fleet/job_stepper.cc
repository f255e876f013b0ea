#include "brain/fleet/job_stepper.h"

#include <algorithm>
#include <cmath>

#include "common/base/byte_units.h"

namespace taut::brain {
namespace {

// Raises a proposed cut to the lowest limit of one step, and to the memory peak that the kernel reports for a
// task. A lower upper bound of the policy still applies at once.
void KeepClear(const JobPolicy& policy, const LaneFacts& facts, const GateState& gate, Proposal& proposal) {
  const std::optional<double> current = gate.in_force.has_value() ? gate.in_force : facts.owner_limit;
  const double wanted = *proposal.recommended;
  const bool is_applied = policy.mode == Mode::kAuto || policy.mode == Mode::kCanary;
  if (!is_applied || facts.applied == LimitsApplied::kNo || !KillsAtLimit(facts.resource)) return;
  if (!current.has_value() || wanted >= *current) return;
  double lowest = std::ceil(*current * (1 - kMostCut) / kMiB) * kMiB;
  // A trial's limit is not delayed, because the trial itself was a step.
  const bool looks = !gate.trial.has_value() && gate.last_change_s != INT64_MIN &&
                     facts.now_s - gate.last_change_s < kLookSeconds;
  if (looks) lowest = *current;
  const double peak = std::ceil(facts.kernel_peak.value_or(0) / kMiB) * kMiB;
  lowest = std::min(std::max(lowest, peak), policy.AllowedBounds(facts.resource).upper.value_or(*current));
  proposal.recommended = std::min(*current, std::max(wanted, lowest));
  if (*proposal.recommended <= wanted) return;
  proposal.step_to = wanted;
  proposal.step_is_of_peak = peak >= lowest;
}

}  // namespace

void JobStepper::StartDay(int32_t day) {
  lane_.lane.StartDay(day);
  lane_.RefreshRisk();
}

void JobStepper::EndDay(int32_t day, uint64_t job, FleetRows& rows) {
  const size_t before = rows.size();
  lane_.lane.EndDay(day, rows);
  for (size_t i = before; i < rows.size(); ++i) rows[i].job = job;
}

void JobStepper::EndDay(int32_t day) {
  FleetRows ignored;
  lane_.lane.EndDay(day, ignored);
}

void JobStepper::Observe(const TrialWindow& window) {
  CountTrialWindow(window, lane_.gate);
  Signal seen = *window.signal;
  if (lane_.gate.in_force.has_value()) seen.limit = lane_.gate.in_force;
  if (window.applied != LimitsApplied::kNo) seen.cut_at = lane_.gate.in_force;
  // Throttled tasks have a limit; without a limit set by Tautline, they have the owner's limit.
  if (seen.throttled.has_value() && !seen.cut_at.has_value()) seen.cut_at = seen.owner_limit;
  lane_.lane.CloseWindow(seen);
  lane_.RefreshRisk();
}

void JobStepper::ObserveKill(const OomEvent& kill, const TrialKill& trial) {
  if (trial.kills > 0) CountTrialOom(kill.task, trial.kills, trial.limit, lane_.gate);
  lane_.lane.Oom(kill);
}

Verdict JobStepper::Decide(const JobPolicy& policy, const LaneFacts& facts) {
  Proposal proposal{.resource = facts.resource,
                    .now_s = facts.now_s,
                    .owner_limit = facts.owner_limit,
                    .recommended = {},
                    .oom = facts.oom,
                    .grows = facts.grows,
                    .num_tasks = facts.num_tasks,
                    .tasks = facts.tasks,
                    .applied = facts.applied,
                    .recommender = &lane_.lane.recommender()};
  if (lane_.lane.recommended().has_value() && (facts.knows_past || facts.oom)) {
    const double least = std::max(lane_.gate.floor, facts.at_least.value_or(0));
    const std::optional<double> upper = policy.AllowedBounds(facts.resource).upper;
    proposal.recommended = std::max(*lane_.lane.LimitInForce(facts.owner_limit), least);
    // The recommendation was computed in the last window and may exceed an upper bound that was set later.
    if (upper.has_value()) proposal.recommended = std::min(*proposal.recommended, *upper);
    KeepClear(policy, facts, lane_.gate, proposal);
  }
  return taut::brain::Decide(policy, proposal, lane_.gate);
}

uint32_t JobStepper::DecideWindow(const JobPolicy& policy, const Signal& signal, bool killed,
                                  std::vector<uint32_t>& tasks) {
  tasks.clear();
  for (const TaskUsage& t : signal.tasks) tasks.push_back(t.task);
  LaneFacts facts{.resource = resource_,
                  .now_s = signal.window.next().start_s(),
                  .owner_limit = signal.owner_limit,
                  .num_tasks = static_cast<uint32_t>(tasks.size()),
                  .oom = true};
  uint32_t moves = 0;
  const auto decide = [&] {
    lane_.RefreshRisk();  // a kill may have changed the recommended limit
    const Verdict verdict = Decide(policy, facts);
    moves += verdict.kind == DecisionKind::kTry || verdict.kind == DecisionKind::kRollBack ? 1 : 0;
  };
  if (killed) decide();
  facts.oom = false;
  facts.tasks = &tasks;
  decide();
  return moves;
}

}  // namespace taut::brain
