// What the daemon orders and what an OOM kill or throttling asks for at once, on its way to the kernel.
#include <algorithm>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "node/agent/agent.h"
#include "node/agent/messages.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;

constexpr int64_t kSuspectUs = kMicrosPerSecond / 2;
constexpr int64_t kGrowthStepUs = 30 * kMicrosPerSecond;
// A program fills its memory after a start in real time, whatever the speed of the cell.
constexpr int64_t kLeastGrowthStepUs = 15 * kMicrosPerSecond;
constexpr double kThere = 0.999;
constexpr double kMachineShare = 0.95;
constexpr int64_t kMaxSkewS = 300;  // between the daemon's clock and this one
constexpr int64_t kMaxGraceS = 86'400;
constexpr size_t kMaxActs = 10'000;

}  // namespace

// ---- when a task is killed or throttled ----

void Agent::OnReady(uint64_t key, const NodeTime& now) {
  if (key == kMemoryKey) {
    parts_.memory->ClearWakeup();
    return GuardAgain(now, true);
  }
  if (key >= kFinderKeys) {
    TaskFinder& finder = *parts_.finders[key - kFinderKeys];
    for (const TaskEvent& event : finder.TakeEvents()) TakeEvent(event, now);
    Find(now);
    return;
  }
  const auto it = tasks_.find(key);
  if (it == tasks_.end()) return;
  it->second->group->ClearOomWakeup();
  suspects_[key] = now.steady_us + kSuspectUs;
  Recheck(now);
}

void Agent::Recheck(const NodeTime& now) {
  const std::map<uint64_t, int64_t> suspects = suspects_;
  for (const auto& [id, until] : suspects) {
    const uint64_t ooms = counts_.ooms;
    if (const auto it = tasks_.find(id); it != tasks_.end()) {
      TaskReading reading;
      const absl::Status s = it->second->group->Read(ReadDepth::kAll, reading);
      if (s.ok()) CheckOom(*it->second, reading, now);
      if (s.code() == absl::StatusCode::kNotFound) RemoveTask(id, now);
    }
    const auto it = tasks_.find(id);
    if (it != tasks_.end() && counts_.ooms == ooms && now.steady_us < until) continue;
    suspects_.erase(id);
    if (it == tasks_.end() || counts_.ooms != ooms) continue;
    if (const uint64_t kills = it->second->ooms.Unexplained(now.steady_us); kills > 0) {
      OnOom(*it->second, kills, now);
    }
  }
  SaveLedger();
}

void Agent::TakeEvent(const TaskEvent& event, const NodeTime& now) {
  const auto it = by_identity_.find(event.identity);
  if (event.kind == TaskEvent::Kind::kOomKill) {
    if (it != by_identity_.end()) {
      AgentTask& task = *tasks_.at(it->second);
      const uint64_t kills = task.ooms.Event(task.oom_kills.has_value(), now.steady_us);
      suspects_[it->second] = now.steady_us + kSuspectUs;
      if (kills > 0) OnOom(task, kills, now);
      return Recheck(now);
    }
    for (auto& [name, departed] : departed_) {
      if (departed.found.identity != event.identity) continue;
      if (const uint64_t kills = departed.ooms.LateEvent(); kills > 0) OnLateOom(departed, kills, now);
      return;
    }
  }
  // A container that starts again is the same container, but what was opened of it is gone.
  if (event.kind == TaskEvent::Kind::kGone && it != by_identity_.end()) RemoveTask(it->second, now);
}

void Agent::CheckOom(AgentTask& task, const TaskReading& reading, const NodeTime& now) {
  const bool has_met_limit = NoteLimitOoms(task, reading, now);
  if (!reading.oom_kills.has_value()) return;
  const std::optional<uint64_t> before = std::exchange(task.oom_kills, reading.oom_kills);
  // The first reading only says what was.
  if (!before.has_value() || *reading.oom_kills <= *before) return;
  const uint64_t kills = task.ooms.Counted(*reading.oom_kills - *before, now.steady_us);
  const bool is_own = reading.limit_ooms.has_value() ? has_met_limit : MayBeOwnKill(task, reading);
  is_own ? OnOom(task, kills, now) : OnKernelKill(task, kills, now);
}

void Agent::CountKills(AgentTask& task, const NodeTime& now) {
  TaskReading reading;
  if (task.group->Read(ReadDepth::kAll, reading).ok()) CheckOom(task, reading, now);
}

bool Agent::MayRaise(const FoundTask& task, const TaskRule& rule) const {
  const auto terms = parts_.ledger->terms().find(task.job);
  return !options_.observe && rule.manage && terms != parts_.ledger->terms().end() && terms->second.apply;
}

std::optional<double> Agent::UpperOf(const FoundTask& task, const TaskRule& rule, Resource r,
                                     std::optional<double> above) const {
  const bool cpu = r == Resource::kCpu;
  std::optional<double> upper = cpu ? rule.cpu_upper : rule.memory_upper;
  const auto take = [&upper](std::optional<double> other) {
    if (other.has_value()) upper = std::min(upper.value_or(*other), *other);
  };
  const auto& terms = parts_.ledger->terms();
  if (const auto it = terms.find(task.job); it != terms.end()) {
    take(cpu ? it->second.cpu_upper : it->second.memory_upper);
  }
  if (!cpu && options_.machine_memory_bytes > 0) take(options_.machine_memory_bytes * kMachineShare);
  take(above);
  return upper;
}

void Agent::OnOom(AgentTask& task, uint64_t kills, const NodeTime& now) {
  const std::optional<double> limit = task.in_force.memory_max_bytes;
  std::optional<double> raised;
  if (MayRaise(task.found, *task.rule) && task.rule->memory != MemoryStyle::kNone) {
    LimitLane& lane = task.of(Resource::kMemory);
    const std::optional<double> upper = UpperOf(task, Resource::kMemory);
    raised = lane.mover.OnOom(limit, upper, now.at.seconds(), OwnersMemory(*task.rule, task.owner));
    NoteHold(task.found, lane, Resource::kMemory, now);
    if (raised.has_value()) {
      ++counts_.local_raises;
      lane.owners = false;
      lane.why = "oom_kill";
      Move({&task}, now);
      if (!lane.error.empty()) raised.reset();
    }
  }
  TellOom(task.found, kills, limit, raised, now);
}

// Without the owner's limit only a bound of the rule or the job holds for a leak.
std::optional<double> Agent::GrowthBound(const AgentTask& task, std::optional<double> owner) const {
  const std::optional<double> upper = UpperOf(task, Resource::kMemory);
  if (owner.has_value()) return std::min(upper.value_or(*owner), *owner);
  const auto terms = parts_.ledger->terms().find(task.found.job);
  const bool is_set = task.rule->memory_upper.has_value() ||
                      (terms != parts_.ledger->terms().end() && terms->second.memory_upper.has_value());
  return is_set ? upper : std::nullopt;
}

void Agent::CheckGrowth(AgentTask& task, const NodeTime& now) {
  const std::optional<double> usage = task.meter.memory_bytes();
  if (!usage.has_value()) return;
  const auto scaled = [this](int64_t us) {
    return static_cast<int64_t>(static_cast<double>(us) / options_.speed);
  };
  task.growth.Note(*usage, now.steady_us, std::max(scaled(kGrowthStepUs), kLeastGrowthStepUs));
  LimitLane& lane = task.of(Resource::kMemory);
  const std::optional<double> limit = lane.mover.current();
  const std::optional<double> owner = OwnersMemory(*task.rule, task.owner);
  // The owner's own limit is not raised for a leak.
  if (!limit.has_value() || lane.owners || (owner.has_value() && *limit >= *owner)) return;
  const std::optional<int64_t> until_us = task.growth.Until(*limit);
  if (!until_us.has_value() || *until_us > scaled(kWindowSeconds * kMicrosPerSecond)) return;
  if (!MayRaise(task.found, *task.rule) || task.rule->memory == MemoryStyle::kNone) return;
  const std::optional<double> upper = GrowthBound(task, owner);
  if (!upper.has_value() || *limit >= *upper * kThere) return;
  const std::optional<double> raised = lane.mover.OnGrowth(upper, now.at.seconds());
  NoteHold(task.found, lane, Resource::kMemory, now);
  if (!raised.has_value()) return;
  ++counts_.local_raises;
  lane.owners = false;
  lane.why = "growth";
  Move({&task}, now);
}

void Agent::OnLateOom(Departed& task, uint64_t kills, const NodeTime& now) {
  if (MayRaise(task.found, *task.rule) && task.rule->memory != MemoryStyle::kNone) {
    LimitLane& lane = task.lanes[static_cast<size_t>(Resource::kMemory)];
    lane.owners = false;
    lane.why = "oom_kill";
    (void)lane.mover.OnOom(task.memory_limit, UpperOf(task.found, *task.rule, Resource::kMemory, {}),
                           now.at.seconds(), task.owner_memory);
    NoteHold(task.found, lane, Resource::kMemory, now);
  }
  TellOom(task.found, kills, task.memory_limit, std::nullopt, now);
}

void Agent::TellOom(const FoundTask& task, uint64_t kills, std::optional<double> limit,
                    std::optional<double> raised, const NodeTime& now) {
  ++counts_.ooms;
  pb::FromAgent message;
  pb::Oom& oom = *message.mutable_oom();
  *oom.mutable_name() = NameMessage(task);
  *oom.mutable_labels() = LabelMessage(task);
  oom.set_time_us(now.at.us);
  oom.set_kills(kills);
  if (limit.has_value()) oom.set_limit_bytes(*limit);
  if (raised.has_value()) oom.set_raised_to_bytes(*raised);
  Act("oom_kill", task, Resource::kMemory, limit, raised.has_value() ? raised : limit, 0, kills,
      raised.has_value() ? "raised" : "not raised");
  Send(std::move(message), Keep::kUntilAcknowledged);
}

void Agent::CheckThrottling(AgentTask& task, const TaskReading& reading, const NodeTime& now) {
  if (!reading.cpu_periods.has_value() || !reading.cpu_throttled_periods.has_value()) return;
  const std::optional<uint64_t> periods = std::exchange(task.periods, reading.cpu_periods);
  const std::optional<uint64_t> throttled = std::exchange(task.throttled, reading.cpu_throttled_periods);
  const bool counts = periods.has_value() && throttled.has_value() && *reading.cpu_periods > *periods &&
                      *reading.cpu_throttled_periods >= *throttled;
  if (!counts || !MayRaise(task.found, *task.rule) || task.rule->cpu != CpuStyle::kHard) return;
  LimitLane& lane = task.of(Resource::kCpu);
  // Being throttled at the owner's own limit is what the owner asked for.
  std::optional<double> upper = UpperOf(task, Resource::kCpu);
  const std::optional<double>& owners = task.owner.cpu_max_cores;
  if (owners.has_value()) upper = std::min(upper.value_or(*owners), *owners);
  const std::optional<double> raised = lane.mover.OnThrottled(
      *reading.cpu_periods - *periods, *reading.cpu_throttled_periods - *throttled, upper, now.steady_us);
  NoteHold(task.found, lane, Resource::kCpu, now);
  if (!raised.has_value()) return;
  ++counts_.local_raises;
  lane.owners = false;
  lane.why = "throttling";
  Move({&task}, now);
}

// ---- what the daemon says ----

void Agent::TakeOrders(const NodeTime& now) {
  for (const pb::ToAgent& message : parts_.uplink->Take()) {
    for (const pb::Terms& terms : message.orders().terms()) TakeTerms(terms);
    for (const pb::Order& order : message.orders().orders()) Order(order, now);
  }
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
  if (is_same_grace) return;  // terms come with each task of a job
  for (const auto& [id, task] : tasks_) {
    if (task->found.job == terms.job()) HoldInGrace(*task);
  }
}

// An order from later than now stands for the moment at which it came first: told again, it is not newer.
int64_t Agent::DecidedAt(LimitLane& lane, int64_t decided_s, const NodeTime& now) {
  const int64_t now_s = now.at.seconds();
  if (decided_s <= now_s + kMaxSkewS) return decided_s;
  if (decided_s != lane.future_decided_s) {
    lane.future_decided_s = decided_s;
    lane.future_came_s = now_s;
  }
  return lane.future_came_s;
}

void Agent::Order(const pb::Order& order, const NodeTime& now) {
  ++counts_.orders;
  const Resource r = order.resource() == pb::CPU ? Resource::kCpu : Resource::kMemory;
  const auto answer = [&](pb::Outcome::Result result, std::string_view text) {
    pb::Outcome& out = *outcomes_.add_outcomes();
    out.set_decision(order.decision());
    *out.mutable_name() = order.name();
    out.set_resource(order.resource());
    out.set_result(result);
    out.set_text(std::string(text));
  };
  const auto it = by_name_.find(Name{order.name().job(), order.name().task()});
  if (it == by_name_.end()) return answer(pb::Outcome::FAILED, "no such task here");
  AgentTask& task = *tasks_.at(it->second);
  if (options_.observe) return answer(pb::Outcome::OBSERVED, "");
  if (!task.rule->manage)
    return answer(pb::Outcome::FAILED, "the agent may not set its limits (manage: false)");
  const bool untouched = WritesFor(*task.rule, r, 1.0, std::nullopt).empty();
  if (untouched)
    return answer(pb::Outcome::FAILED,
                  StrCat(taut::Name(r), " is only measured here (", taut::Name(r), ": none)"));
  if (r == Resource::kCpu && task.rule->cpu == CpuStyle::kSoft && WeightByTier(task) > 0) {
    return answer(pb::Outcome::FAILED, StrCat("cpu.weight is set by the task's tier here (tiers.cpu_weight.",
                                              taut::Name(task.tier.tier), ")"));
  }
  LimitLane& lane = task.of(r);
  if (r == Resource::kMemory) CountKills(task, now);
  // The owner may have changed it since the last look.
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
  // memory.high is the guard's while it throttles.
  const bool is_guards =
      r == Resource::kMemory && task.rule->memory == MemoryStyle::kSoft && task.high_before.has_value();
  if (is_guards) return std::nullopt;
  if (!lane.mover.has_target() || options_.observe || !task.rule->manage) return std::nullopt;
  const bool cpu = r == Resource::kCpu;
  const auto next = lane.mover.Next(cpu ? task.meter.cpu_cores() : task.meter.memory_bytes(),
                                    cpu ? std::nullopt : task.recent_peak(), now.steady_us);
  if (!next.has_value()) return Report(task, r, now), std::nullopt;
  if (now.steady_us > task.compared_us) {  // another program may have changed it
    CompareLimits(task, now);
    return PlanStep(task, r, now);
  }
  Step step{&task, r, *next, {}};
  const LimitKind kind = cpu ? LimitKind::kCpuMax : LimitKind::kMemoryMax;
  const bool at_owners = lane.owners && SameLimit(kind, *next, lane.mover.target());
  step.writes = at_owners ? WritesForOwner(*task.rule, r, task.owner)
                          : WritesFor(*task.rule, r, *next, lane.mover.current());
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
    // A kernel without soft limits has the hard one.
    const bool is_soft_only = kind == LimitKind::kMemoryHigh && s.code() == absl::StatusCode::kUnimplemented;
    if (is_soft_only) s = absl::OkStatus();
    const size_t unwritten = !is_soft_only && MayBeWritten(s.code()) ? i + 1 : i;
    for (size_t k = unwritten; k < (is_soft_only ? i + 1 : step.writes.size()); ++k) {
      parts_.ledger->Withdraw(identity, step.writes[k].first);
    }
  }
  ++(s.ok() ? counts_.writes : counts_.refused_writes);
  if (!step.writes.empty()) lane.limit_since = now.at;
  if (s.ok()) {
    lane.error.clear();
    if (!lane.from.has_value()) lane.from = lane.mover.current();
    const bool is_rounded = step.r == Resource::kCpu && task.rule->cpu == CpuStyle::kHard;
    lane.mover.Wrote(step.limit, now.steady_us,
                     is_rounded ? std::optional<LimitValue>(task.in_force.cpu_max_cores) : std::nullopt);
    if (lane.mover.state() != MoveState::kStepping) ActOnTarget(task, step.r);
  } else {
    lane.error = Message(s);
    const bool was_refused = lane.mover.state() == MoveState::kRefused;
    // The value is not one that can be set, today or tomorrow.
    lane.mover.Refused(now.steady_us, s.code() == absl::StatusCode::kInvalidArgument);
    if (!was_refused) {
      Act("limit_refused", task.found, step.r, lane.mover.current(), step.limit, lane.decision, 0,
          lane.error);
    }
  }
  Report(task, step.r, now);
}

// The limit is where it was to go, or as near as it gets.
void Agent::ActOnTarget(AgentTask& task, Resource r) {
  LimitLane& lane = task.of(r);
  if (!lane.from.has_value()) return;
  const LimitValue from = *std::exchange(lane.from, std::nullopt);
  const bool is_local = lane.why != "order" && !lane.why.empty();
  Act(is_local      ? "limit_raised"
      : lane.owners ? "limit_released"
                    : "limit_set",
      task.found, r, from, lane.mover.current(), is_local ? 0 : lane.decision, 0,
      is_local ? std::string(lane.why) : lane.mover.Sentence());
}

void Agent::Act(std::string_view action, const FoundTask& task, std::optional<Resource> r, LimitValue from,
                LimitValue to, uint64_t decision, uint64_t kills, std::string text) {
  if (acts_.size() >= kMaxActs) acts_.erase(acts_.begin());
  acts_.push_back({action, task.job, task.task, r, from, to, decision, kills, std::move(text)});
}

// Reports the outcome of the order, once for each state.
void Agent::Report(AgentTask& task, Resource r, const NodeTime& now) {
  LimitLane& lane = task.of(r);
  const MoveState state = lane.mover.state();
  const std::pair<MoveState, Obstacle> what(
      state, state == MoveState::kHeld ? lane.mover.obstacle() : Obstacle::kNone);
  // Steps that usage stopped on their way.
  if (state == MoveState::kHeld) ActOnTarget(task, r);
  if (lane.decision == 0 || lane.said == what) return;
  lane.said = what;
  constexpr pb::Outcome::Result kResults[] = {pb::Outcome::APPLIED, pb::Outcome::STEPPING, pb::Outcome::HELD,
                                              pb::Outcome::FAILED};
  std::string text = lane.mover.Sentence();
  if (state == MoveState::kRefused) {
    text = lane.mover.is_final() ? StrCat(lane.error, " (", text, ")") : lane.error;
  } else if (text.empty()) {
    text = lane.note.empty() ? AboveText(task, r, lane.mover.current()) : lane.note;
  }
  if (state == MoveState::kHeld) {
    Act("limit_held", task.found, r, lane.mover.current(), lane.mover.target(), lane.decision, 0, text);
  }
  Say(task, r, kResults[static_cast<size_t>(state)], std::move(text), now);
}

void Agent::Say(const AgentTask& task, Resource r, pb::Outcome::Result result, std::string text,
                const NodeTime& now) {
  const LimitLane& lane = task.of(r);
  pb::Outcome& out = *outcomes_.add_outcomes();
  out.set_decision(lane.decision);
  *out.mutable_name() = NameMessage(task.found);
  out.set_resource(r == Resource::kCpu ? pb::CPU : pb::MEMORY);
  out.set_result(result);
  out.set_text(std::move(text));
  out.set_final(result == pb::Outcome::HELD || lane.mover.is_final());
  if (lane.minimum > 0) out.set_minimum(lane.minimum);
  if (lane.mover.current().has_value()) out.set_limit(*lane.mover.current());
  out.set_took_us(static_cast<uint64_t>(std::max<int64_t>(0, now.steady_us - lane.ordered_us)));
}

}  // namespace taut::node
