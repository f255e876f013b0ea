// Receives the daemon's orders and writes the ordered limits to the kernel.
#include <algorithm>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "common/rpc/resource_proto.h"
#include "node/agent/agent.h"
#include "node/agent/messages.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;

constexpr int64_t kMaxSkewS = 300;  // largest plausible lead of the daemon's clock
constexpr int64_t kMaxGraceS = 86'400;
constexpr size_t kMaxActs = 10'000;

}  // namespace

// ---- messages of the daemon ----

void Agent::TakeOrders(const NodeTime& now) {
  // Handle terms first: Order counts pending kills, whose raises depend on the terms.
  for (const pb::ToAgent& message : parts_.uplink->Take()) {
    for (const pb::Terms& terms : message.orders().terms()) TakeTerms(terms);
    for (const pb::Order& order : message.orders().orders()) Order(order, now);
  }
  // Move all orders of this call together, so that the ledger is saved twice in total and not twice per task.
  std::vector<AgentTask*> moving;
  for (const auto& [id, task] : tasks_) {
    const bool due = std::any_of(task->lanes.begin(), task->lanes.end(),
                                 [&](const LimitLane& l) { return l.ordered_us == now.steady_us; });
    if (due) moving.push_back(task.get());
  }
  Move(moving, now);
  SaveLedger();
  if (parts_.uplink->TakeConnected()) SendTasks(true);
  SendOutcomes();
}

void Agent::TakeTerms(const pb::Terms& terms) {
  TakeThrottleTerms(terms);
  JobTerms out;
  out.apply = terms.apply();
  if (terms.has_cpu_upper_cores()) out.cpu_upper = terms.cpu_upper_cores();
  if (terms.has_memory_upper_bytes()) out.memory_upper = terms.memory_upper_bytes();
  if (terms.has_startup_grace_s()) {
    out.startup_grace_s = std::min<int64_t>(terms.startup_grace_s(), kMaxGraceS);
  }
  const auto known = parts_.ledger->terms().find(terms.job());
  const bool is_same_grace =
      known != parts_.ledger->terms().end() && known->second.startup_grace_s == out.startup_grace_s;
  parts_.ledger->SetTerms(terms.job(), out);
  if (is_same_grace) return;  // terms arrive with each task of a job
  for (const auto& [id, task] : tasks_) {
    if (task->found.job == terms.job()) HoldInGrace(*task);
  }
}

// A time in the future is replaced by the time of the order's first arrival, so that a repetition of the order is
// not newer than the first.
int64_t Agent::DecidedAt(LimitLane& lane, int64_t decided_s, const NodeTime& now) {
  const int64_t now_s = now.at.seconds();
  if (decided_s <= now_s + kMaxSkewS) return decided_s;
  if (decided_s != lane.future_decided_s) {
    lane.future_decided_s = decided_s;
    lane.future_came_s = now_s;
  }
  return lane.future_came_s;
}

std::string Agent::WhyNotSet(const AgentTask& task, Resource r) const {
  if (!task.rule->manage) return "the agent may not set its limits (manage: false)";
  if (WritesFor(*task.rule, r, 1.0, std::nullopt).empty())
    return StrCat(taut::Name(r), " is only measured here (", taut::Name(r), ": none)");
  if (r == Resource::kCpu && task.rule->cpu == CpuStyle::kSoft && WeightByTier(task) > 0) {
    return StrCat("cpu.weight is set by the task's tier here (tiers.cpu_weight.", taut::Name(task.tier.tier),
                  ")");
  }
  return "";
}

void Agent::Order(const pb::Order& order, const NodeTime& now) {
  ++counts_.orders;
  const auto answer = [&](pb::Outcome::Result result, std::string_view text) {
    pb::Outcome& out = *outcomes_.add_outcomes();
    out.set_decision(order.decision());
    *out.mutable_name() = order.name();
    out.set_resource(order.resource());
    out.set_result(result);
    out.set_text(std::string(text));
  };
  const std::optional<Resource> resource = ResourceOf(order.resource());
  if (!resource.has_value())
    return answer(pb::Outcome::FAILED, "this version of tautlet does not limit this resource");
  const Resource r = *resource;
  const auto it = by_name_.find(Name{order.name().job(), order.name().task()});
  if (it == by_name_.end()) return answer(pb::Outcome::FAILED, "no such task here");
  AgentTask& task = *tasks_.at(it->second);
  if (options_.observe) return answer(pb::Outcome::OBSERVED, "");
  if (std::string why = WhyNotSet(task, r); !why.empty()) return answer(pb::Outcome::FAILED, why);
  LimitLane& lane = task.of(r);
  // Count earlier kills before the limit changes, so that a raise starts from the limit that caused the kills.
  if (r == Resource::kMemory) CountKills(task, now);
  // Another program may have changed the limit since the last comparison.
  if (now.steady_us > task.compared_us) CompareLimits(task, now);
  if (const std::string why = order.has_limit() ? WhyNotAdded(task, r) : ""; !why.empty())
    return answer(pb::Outcome::FAILED, why);
  const int64_t decided_s = DecidedAt(lane, order.decided_s(), now);
  if (decided_s != 0 && lane.others_s.has_value() && decided_s < *lane.others_s) {
    return answer(pb::Outcome::HELD,
                  "the limit was changed by another program; it stays until the next decision");
  }
  if (decided_s != 0 && !lane.mover.MayFollow(decided_s)) {
    return answer(pb::Outcome::HELD, lane.mover.WhyNotFollowed());
  }
  std::optional<double> limit = Bounded(*task.rule, r, order.limit());
  lane.note.clear();
  lane.minimum = 0;
  const LimitKind kind = r == Resource::kCpu ? LimitKind::kCpuMax : LimitKind::kMemoryMax;
  const bool is_hard = r == Resource::kMemory || task.rule->cpu == CpuStyle::kHard;
  if (const double least = task.group->Least(kind); is_hard && order.has_limit() && *limit < least) {
    lane.note = StrCat(FormatAmount(r, *limit), " is below the minimum of ", FormatAmount(r, least),
                       "; the minimum was set");
    lane.minimum = least;
    limit = least;
  }
  lane.decision = order.decision();
  lane.ordered_us = now.steady_us;
  lane.said.reset();
  lane.owners = !order.has_limit();
  lane.why = "order";
  lane.mover.SetTarget(lane.owners ? LimitOf(task, r, task.owner) : limit);
  NoteHold(task.found, lane, r, now);
}

// ---- limits ----

bool Agent::SaveLedger() {
  if (options_.observe) return true;
  const absl::Status saved = parts_.ledger->Save();
  if (saved.ok()) {
    errors_.erase("ledger");
  } else {
    errors_["ledger"] =
        StrCat(Message(saved), "; no limit is changed while the previous one cannot be recorded");
  }
  return saved.ok();
}

std::optional<Agent::Step> Agent::PlanStep(AgentTask& task, Resource r, const NodeTime& now) {
  LimitLane& lane = task.of(r);
  // While the guard throttles, it owns memory.high, which a soft limit would write.
  const bool is_guards =
      r == Resource::kMemory && task.rule->memory == MemoryStyle::kSoft && task.high_before.has_value();
  if (is_guards) return std::nullopt;
  if (!lane.mover.target().has_value() || options_.observe || !task.rule->manage) return std::nullopt;
  const bool cpu = r == Resource::kCpu;
  const auto next = lane.mover.Next(cpu ? task.meter.cpu_cores() : task.meter.memory_bytes(),
                                    cpu ? std::nullopt : task.recent_peak(), now.steady_us);
  if (!next.has_value()) return Report(task, r, now), std::nullopt;
  // Another program may have changed the limit: compare, then plan again with the new value.
  if (now.steady_us > task.compared_us) {
    CompareLimits(task, now);
    return PlanStep(task, r, now);
  }
  Step step{&task, r, *next, {}};
  const LimitKind kind = cpu ? LimitKind::kCpuMax : LimitKind::kMemoryMax;
  const bool at_owners = lane.owners && SameLimit(kind, *next, *lane.mover.target());
  step.writes = at_owners ? WritesForOwner(*task.rule, r, task.owner)
                          : WritesFor(*task.rule, r, *next, lane.mover.current());
  // Record all writes of a step as intended before the first write, so that one save of the ledger covers all
  // tasks.
  for (const auto& [its_kind, value] : step.writes) {
    parts_.ledger->Intend(task.found, its_kind, task.owner.of(its_kind),
                          task.group->Rounded(its_kind, value));
  }
  return step;
}

void Agent::Move(const std::vector<AgentTask*>& tasks, const NodeTime& now) {
  std::vector<Step> steps;
  for (AgentTask* task : tasks) {
    for (const Resource r : kResources) {
      if (std::optional<Step> step = PlanStep(*task, r, now)) steps.push_back(*std::move(step));
    }
  }
  if (steps.empty()) return;
  // A step that is not recorded is not written: otherwise a kill of the agent would leave limits that nothing
  // restores.
  if (!SaveLedger()) {
    for (const Step& step : steps) {
      LimitLane& lane = step.task->of(step.r);
      lane.error = errors_["ledger"];
      lane.mover.Refused(now.steady_us);
      for (const auto& write : step.writes) {
        parts_.ledger->Withdraw(step.task->found.identity, write.first);
      }
      Report(*step.task, step.r, now);
    }
    return;
  }
  for (const Step& step : steps) Carry(step, now);
  SaveLedger();
}

void Agent::Carry(const Step& step, const NodeTime& now) {
  AgentTask& task = *step.task;
  LimitLane& lane = task.of(step.r);
  const std::string& identity = task.found.identity;
  absl::Status s;
  for (size_t i = 0; i < step.writes.size() && s.ok(); ++i) {
    const auto& [kind, value] = step.writes[i];
    s = task.group->SetLimit(kind, value);
    if (s.ok()) {
      task.in_force.of(kind) = task.group->Rounded(kind, value);
      parts_.ledger->Confirm(identity, kind);
      continue;
    }
    // Without memory.high only the hard limit applies, which is not an error.
    const bool is_soft_only = kind == LimitKind::kMemoryHigh && s.code() == absl::StatusCode::kUnimplemented;
    if (is_soft_only) s = absl::OkStatus();
    // After an error that may have changed the kernel, this write stays intended until the next comparison.
    // The later writes of the step were not made, and are withdrawn.
    const size_t unwritten = !is_soft_only && MayBeWritten(s.code()) ? i + 1 : i;
    for (size_t k = unwritten; k < (is_soft_only ? i + 1 : step.writes.size()); ++k) {
      parts_.ledger->Withdraw(identity, step.writes[k].first);
    }
  }
  ++(s.ok() ? counts_.writes : counts_.refused_writes);
  if (!step.writes.empty()) lane.limit_since = now.at;
  if (s.ok()) {
    lane.error.clear();
    // The first step records the limit at which the move began, so that one log entry covers the whole move.
    if (!lane.from.has_value()) lane.from = lane.mover.current();
    // A quota may be rounded up: keep and report the kernel's value, or the ordered value would be written again
    // and again.
    const bool is_rounded = step.r == Resource::kCpu && task.rule->cpu == CpuStyle::kHard;
    lane.mover.Wrote(step.limit, now.steady_us,
                     is_rounded ? std::optional<LimitValue>(task.in_force.cpu_max_cores) : std::nullopt);
    if (lane.mover.status().state != MoveState::kStepping) ActOnTarget(task, step.r);
  } else {
    lane.error = Message(s);
    const bool was_refused = lane.mover.status().state == MoveState::kRefused;
    // InvalidArgument means that the value itself is invalid: a retry with the same value is useless.
    lane.mover.Refused(now.steady_us, s.code() == absl::StatusCode::kInvalidArgument);
    if (!was_refused) {
      Act(task.found, {.action = "limit_refused",
                       .resource = step.r,
                       .from = lane.mover.current(),
                       .to = step.limit,
                       .decision = lane.decision,
                       .text = lane.error});
    }
  }
  Report(task, step.r, now);
}

// Logs that the limit has reached its target, or its nearest possible value.
void Agent::ActOnTarget(AgentTask& task, Resource r) {
  LimitLane& lane = task.of(r);
  if (lane.mover.steered.has_value()) lane.from.reset();  // small steps are not logged
  if (!lane.from.has_value()) return;
  const LimitValue from = *std::exchange(lane.from, std::nullopt);
  const bool is_local = lane.why != "order" && !lane.why.empty();
  Act(task.found, {.action = is_local      ? "limit_raised"
                             : lane.owners ? "limit_released"
                                           : "limit_set",
                   .resource = r,
                   .from = from,
                   .to = lane.mover.current(),
                   .decision = is_local ? 0 : lane.decision,
                   .text = is_local ? std::string(lane.why) : lane.mover.Sentence()});
}

void Agent::Act(const FoundTask& task, AgentAct act) {
  if (acts_.size() >= kMaxActs) acts_.erase(acts_.begin());
  act.job = task.job;
  act.task = task.task;
  acts_.push_back(std::move(act));
}

// Reports the outcome of the order, once for each state and obstacle.
void Agent::Report(AgentTask& task, Resource r, const NodeTime& now) {
  LimitLane& lane = task.of(r);
  const auto [state, obstacle, is_final] = lane.mover.status();
  const std::pair<MoveState, Obstacle> what(state, state == MoveState::kHeld ? obstacle : Obstacle::kNone);
  // The lane is held before its limit reached the target: log the limit that was reached.
  if (state == MoveState::kHeld) ActOnTarget(task, r);
  if (lane.decision == 0 || lane.said == what) return;
  lane.said = what;
  constexpr pb::Outcome::Result kResults[] = {pb::Outcome::APPLIED, pb::Outcome::STEPPING, pb::Outcome::HELD,
                                              pb::Outcome::FAILED};
  std::string text = lane.mover.Sentence();
  if (state == MoveState::kRefused) {
    text = is_final ? StrCat(lane.error, " (", text, ")") : lane.error;
  } else if (lane.mover.steered.has_value()) {
    text = "the agent moves the limit around the ordered one (cpu.throttle_target)";
  } else if (text.empty()) {
    text = lane.note.empty() ? AboveText(task, r, lane.mover.current()) : lane.note;
  }
  if (state == MoveState::kHeld) {
    Act(task.found, {.action = "limit_held",
                     .resource = r,
                     .from = lane.mover.current(),
                     .to = lane.mover.target().value_or(std::nullopt),
                     .decision = lane.decision,
                     .text = text});
  }
  Say(task, r, kResults[static_cast<size_t>(state)], std::move(text), now);
}

void Agent::Say(const AgentTask& task, Resource r, pb::Outcome::Result result, std::string text,
                const NodeTime& now) {
  const LimitLane& lane = task.of(r);
  pb::Outcome& out = *outcomes_.add_outcomes();
  out.set_decision(lane.decision);
  *out.mutable_name() = NameMessage(task.found);
  out.set_resource(ProtoOf(r));
  out.set_result(result);
  out.set_text(std::move(text));
  out.set_final(result == pb::Outcome::HELD || lane.mover.status().is_final);
  if (lane.minimum > 0) out.set_minimum(lane.minimum);
  if (lane.mover.current().has_value()) out.set_limit(*lane.mover.current());
  out.set_took_us(static_cast<uint64_t>(std::max<int64_t>(0, now.steady_us - lane.ordered_us)));
}

}  // namespace taut::node
