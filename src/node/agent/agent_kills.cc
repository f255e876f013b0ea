// Reacts at once to OOM kills, to growth towards the limit, and to throttling.
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
// Lower bound of the growth step if the clock is sped up: a program that starts fills its memory in real time.
constexpr int64_t kLeastGrowthStepUs = 15 * kMicrosPerSecond;
constexpr double kThere = 0.999;
constexpr double kMachineShare = 0.95;

}  // namespace

void Agent::OnReady(uint64_t key, const NodeTime& now) {
  if (key == kMemoryKey) {
    // Clear the wake-up before the reading: a threshold that is passed after the read then wakes the loop again.
    parts_.memory->ClearWakeup();
    return GuardAgain(now, true);
  }
  if (key >= kFinderKeys) {
    TaskFinder& finder = *parts_.finders[key - kFinderKeys];
    // Handle the events before Find: an OOM kill belongs to the run of the task that Find may replace.
    for (const TaskEvent& event : finder.TakeEvents()) TakeEvent(event, now);
    Find(now);
    return;
  }
  const auto it = tasks_.find(key);
  if (it == tasks_.end()) return;
  it->second->group->ClearOomWakeup();
  // The kernel signals a kill before it counts the kill: read again for kSuspectUs.
  suspects_[key] = now.steady_us + kSuspectUs;
  Recheck(now);
}

void Agent::Recheck(const NodeTime& now) {
  // Recheck may remove tasks and change suspects_: iterate over a copy.
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
    // The counter did not rise in time: the event may report the kill that ended the task's previous run.
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
  // A restarted container has the same identity, but the files opened for its previous run are gone.
  if (event.kind == TaskEvent::Kind::kGone && it != by_identity_.end()) RemoveTask(it->second, now);
}

void Agent::CheckOom(AgentTask& task, const TaskReading& reading, const NodeTime& now) {
  const bool has_met_limit = NoteLimitOoms(task, reading, now);
  if (!reading.oom_kills.has_value()) return;
  const std::optional<uint64_t> before = std::exchange(task.oom_kills, reading.oom_kills);
  // The first reading counts the kills from before the agent's start: do not report them.
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
  // A raise above the limit of a group above the task would have no effect.
  take(above);
  return upper;
}

void Agent::MoveRaised(AgentTask& task, LimitLane& lane, std::string_view why, const NodeTime& now) {
  ++counts_.local_raises;
  lane.owners = false;
  lane.why = why;
  Move({&task}, now);
}

void Agent::OnOom(AgentTask& task, uint64_t kills, const NodeTime& now) {
  // Use the limit at which the kernel killed the task: the mover may already have a later target.
  const std::optional<double> limit = task.in_force.memory_max_bytes;
  std::optional<double> raised;
  if (MayRaise(task.found, *task.rule) && task.rule->memory != MemoryStyle::kNone) {
    LimitLane& lane = task.of(Resource::kMemory);
    const std::optional<double> upper = UpperOf(task, Resource::kMemory);
    raised = lane.mover.OnOom(limit, upper, now.at.seconds(), OwnersMemory(*task.rule, task.owner));
    NoteHold(task.found, lane, Resource::kMemory, now);
    if (raised.has_value()) {
      MoveRaised(task, lane, "oom_kill", now);
      // A raise that could not be written is not reported as a raise; the mover retries the write.
      if (!lane.error.empty()) raised.reset();
    }
  }
  TellOom(task.found, kills, limit, raised, now);
}

// Returns the highest limit that growth may raise to; nullopt: do not raise. Without an owner's limit, only a
// configured bound stops a leak.
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
  // A limit at the owner's value is not raised: the owner may have set it to stop a leak.
  if (!limit.has_value() || lane.owners || (owner.has_value() && *limit >= *owner)) return;
  const std::optional<int64_t> until_us = task.growth.Until(*limit);
  if (!until_us.has_value() || *until_us > scaled(kWindowSeconds * kMicrosPerSecond)) return;
  if (!MayRaise(task.found, *task.rule) || task.rule->memory == MemoryStyle::kNone) return;
  const std::optional<double> upper = GrowthBound(task, owner);
  if (!upper.has_value() || *limit >= *upper * kThere) return;
  const std::optional<double> raised = lane.mover.OnGrowth(upper, now.at.seconds());
  NoteHold(task.found, lane, Resource::kMemory, now);
  if (!raised.has_value()) return;
  MoveRaised(task, lane, "growth", now);
}

void Agent::OnLateOom(Departed& task, uint64_t kills, const NodeTime& now) {
  if (MayRaise(task.found, *task.rule) && task.rule->memory != MemoryStyle::kNone) {
    // The task has ended, and nothing can be written now. The target waits in `departed_` for the task's next
    // start.
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
  Act(task, {.action = "oom_kill",
             .resource = Resource::kMemory,
             .from = limit,
             .to = raised.has_value() ? raised : limit,
             .kills = kills,
             .text = raised.has_value() ? "raised" : "not raised"});
  Send(std::move(message), Keep::kUntilAcknowledged);
}

void Agent::CheckThrottling(AgentTask& task, const TaskReading& reading, const NodeTime& now) {
  if (!reading.cpu_periods.has_value() || !reading.cpu_throttled_periods.has_value()) return;
  const std::optional<uint64_t> periods = std::exchange(task.periods, reading.cpu_periods);
  const std::optional<uint64_t> throttled = std::exchange(task.throttled, reading.cpu_throttled_periods);
  const bool counts = periods.has_value() && throttled.has_value() && *reading.cpu_periods > *periods &&
                      *reading.cpu_throttled_periods >= *throttled;
  if (!counts || !MayRaise(task.found, *task.rule) || task.rule->cpu != CpuStyle::kHard) return;
  if (ControlThrottling(task,
                        {*reading.cpu_periods - *periods, *reading.cpu_throttled_periods - *throttled,
                         task.meter.cpu_cores()},
                        now)) {
    return;
  }
  LimitLane& lane = task.of(Resource::kCpu);
  // Raise at most to the owner's limit, at which the owner accepts throttling.
  std::optional<double> upper = UpperOf(task, Resource::kCpu);
  const std::optional<double>& owners = task.owner.cpu_max_cores;
  if (owners.has_value()) upper = std::min(upper.value_or(*owners), *owners);
  const std::optional<double> raised = lane.mover.OnThrottled(
      *reading.cpu_periods - *periods, *reading.cpu_throttled_periods - *throttled, upper, now.steady_us);
  NoteHold(task.found, lane, Resource::kCpu, now);
  if (!raised.has_value()) return;
  MoveRaised(task, lane, "throttling", now);
}

}  // namespace taut::node
