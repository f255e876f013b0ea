// Keeps the share of throttled periods at a target between two decisions (node/agent/throttle_control.h).
#include <algorithm>
#include <cmath>

#include "node/agent/agent.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;

constexpr int64_t kUnreadUs = 60 * kMicrosPerSecond;

bool IsValid(const pb::ThrottleControl& terms) {
  return terms.target() > 0 && terms.target() < 1 && terms.low() > 0 && terms.low() <= 1 &&
         terms.high() >= 1 && std::isfinite(terms.high());
}

}  // namespace

void Agent::TakeThrottleTerms(const pb::Terms& terms) {
  if (terms.has_throttle_control() && IsValid(terms.throttle_control())) {
    throttle_terms_[terms.job()] = terms.throttle_control();
  } else {
    throttle_terms_.erase(terms.job());
  }
}

std::optional<ThrottleBounds> Agent::ThrottleBoundsOf(const AgentTask& task, const NodeTime& now) const {
  const auto terms = throttle_terms_.find(task.found.job);
  const LimitLane& lane = task.of(Resource::kCpu);
  const std::optional<LimitValue> target = lane.mover.target();
  // Without a connection no report says what the control does: the ordered limit is in force.
  if (terms == throttle_terms_.end() || !parts_.uplink->status().connected) return std::nullopt;
  if (!MayRaise(task.found, *task.rule) || task.rule->cpu != CpuStyle::kHard) return std::nullopt;
  if (!target.has_value() || !target->has_value() || lane.owners) return std::nullopt;
  const double ordered = **target;
  // The job's and the owner's bounds apply. The ordered limit is always within the bounds.
  std::optional<double> upper = UpperOf(task, Resource::kCpu);
  const std::optional<double>& owners = task.owner.cpu_max_cores;
  if (owners.has_value()) upper = std::min(upper.value_or(*owners), *owners);
  double low = ordered * terms->second.low();
  if (terms->second.has_lower_cores()) low = std::max(low, terms->second.lower_cores());
  low =
      Bounded(*task.rule, Resource::kCpu, std::max(low, task.group->Least(LimitKind::kCpuMax))).value_or(low);
  const double high = ordered * terms->second.high();
  if (now.steady_us < task.cuts_from_us) low = ordered;
  return ThrottleBounds{terms->second.target(), std::min(low, ordered),
                        std::max(ordered, std::min(high, upper.value_or(high)))};
}

bool Agent::ControlThrottling(AgentTask& task, const ThrottleReading& reading, const NodeTime& now) {
  LimitLane& lane = task.of(Resource::kCpu);
  const std::optional<ThrottleBounds> bounds = ThrottleBoundsOf(task, now);
  if (!bounds.has_value() || !lane.mover.current().has_value()) return false;
  task.throttle_read_us = now.steady_us;
  if (!task.throttle.has_value()) {
    // These counts are from before the control, possibly under another limit.
    task.throttle.emplace(ThrottleOptions{});
    return true;
  }
  const std::optional<double> limit =
      task.throttle->Step(reading, *lane.mover.current(), *bounds, now.steady_us);
  if (limit.has_value()) lane.mover.steered = limit;
  return true;
}

void Agent::CheckThrottleControl(AgentTask& task, const NodeTime& now) {
  if (!task.throttle.has_value()) return;
  const bool is_read = now.steady_us - task.throttle_read_us <= kUnreadUs;
  if (!is_read || !ThrottleBoundsOf(task, now).has_value()) EndThrottleControl(task);
}

void Agent::EndThrottleControl(AgentTask& task) {
  task.throttle.reset();
  task.of(Resource::kCpu).mover.steered.reset();
}

}  // namespace taut::node
