// What the daemon orders and what an OOM kill or throttling asks for at once, on its way to the kernel.
#include <algorithm>

#include "agent/agent.h"
#include "agent/messages.h"
#include "base/strings.h"

namespace taut {
namespace {

namespace pb = taut::agent::v1;

constexpr int64_t kSecond = kMicrosPerSecond;
constexpr int64_t kSuspectUs = kSecond / 2;
constexpr double kMachineShare = 0.95;

}  // namespace

// ---- when a task is killed or throttled ----

void Agent::OnReady(uint64_t key, const NodeTime& now) {
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
    if (!tasks_.contains(id) || counts_.ooms != ooms || now.steady_us >= until) suspects_.erase(id);
  }
}

void Agent::TakeEvent(const TaskEvent& event, const NodeTime& now) {
  const auto it = by_identity_.find(event.identity);
  if (event.kind == TaskEvent::Kind::kOomKill) {
    if (it != by_identity_.end()) {
      return OnOom(*tasks_.at(it->second), OomSource::kEvent, 1, now);
    }
    for (auto& [name, departed] : departed_) {
      if (departed.found.identity == event.identity) return OnLateOom(departed, now);
    }
  }
  // A container that starts again is the same container, but what was opened of it is gone.
  if (event.kind == TaskEvent::Kind::kGone && it != by_identity_.end()) RemoveTask(it->second, now);
}

void Agent::CheckOom(AgentTask& task, const TaskReading& reading, const NodeTime& now) {
  if (!reading.oom_kills.has_value()) return;
  const std::optional<uint64_t> before = std::exchange(task.oom_kills, reading.oom_kills);
  // The first reading only says what was.
  if (before.has_value() && *reading.oom_kills > *before) {
    OnOom(task, OomSource::kCounter, *reading.oom_kills - *before, now);
  }
}

bool Agent::MayRaise(const FoundTask& task, const TaskRule& rule) const {
  const auto terms = terms_.find(task.job);
  return !options_.observe && rule.manage && terms != terms_.end() && terms->second.apply;
}

std::optional<double> Agent::UpperOf(const FoundTask& task, const TaskRule& rule, Resource r) const {
  const bool cpu = r == Resource::kCpu;
  std::optional<double> upper = cpu ? rule.cpu_upper : rule.memory_upper;
  const auto take = [&upper](std::optional<double> other) {
    if (other.has_value()) upper = std::min(upper.value_or(*other), *other);
  };
  if (const auto it = terms_.find(task.job); it != terms_.end()) {
    take(cpu ? it->second.cpu_upper : it->second.memory_upper);
  }
  if (!cpu && options_.machine_memory_bytes > 0) take(options_.machine_memory_bytes * kMachineShare);
  return upper;
}

void Agent::OnOom(AgentTask& task, OomSource source, uint64_t kills, const NodeTime& now) {
  kills = task.ooms.Take(source, kills, now.steady_us);
  if (kills == 0) return;
  const std::optional<double> limit = task.in_force.memory_max_bytes;
  std::optional<double> raised;
  if (MayRaise(task.found, *task.rule) && task.rule->memory != MemoryStyle::kNone) {
    LimitLane& lane = task.of(Resource::kMemory);
    raised = lane.mover.OnOom(limit, UpperOf(task.found, *task.rule, Resource::kMemory), now.at.seconds());
    if (raised.has_value()) {
      ++counts_.local_raises;
      lane.owners = false;
      Move({&task}, now);
      if (!lane.error.empty()) raised.reset();
    }
  }
  TellOom(task.found, kills, limit, raised, now);
}

// The engine tells of a kill when the container is gone already: it starts again with more.
void Agent::OnLateOom(Departed& task, const NodeTime& now) {
  if (task.ooms.Take(OomSource::kEvent, 1, now.steady_us) == 0) return;
  if (MayRaise(task.found, *task.rule) && task.rule->memory != MemoryStyle::kNone) {
    LimitLane& lane = task.lanes[static_cast<size_t>(Resource::kMemory)];
    lane.owners = false;
    (void)lane.mover.OnOom(task.memory_limit, UpperOf(task.found, *task.rule, Resource::kMemory),
                           now.at.seconds());
  }
  TellOom(task.found, 1, task.memory_limit, std::nullopt, now);
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
  std::optional<double> upper = UpperOf(task.found, *task.rule, Resource::kCpu);
  const std::optional<double>& owners = task.owner.cpu_max_cores;
  if (owners.has_value()) upper = std::min(upper.value_or(*owners), *owners);
  const std::optional<double> raised = lane.mover.OnThrottled(
      *reading.cpu_periods - *periods, *reading.cpu_throttled_periods - *throttled, upper, now.steady_us);
  if (!raised.has_value()) return;
  ++counts_.local_raises;
  lane.owners = false;
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
  if (parts_.uplink->TakeConnected()) SendTasks(true);
  SendOutcomes();
}

void Agent::TakeTerms(const pb::Terms& terms) {
  Terms& out = terms_[terms.job()];
  out.apply = terms.apply();
  out.cpu_upper = terms.has_cpu_upper_cores() ? std::optional(terms.cpu_upper_cores()) : std::nullopt;
  out.memory_upper =
      terms.has_memory_upper_bytes() ? std::optional(terms.memory_upper_bytes()) : std::nullopt;
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
    return answer(pb::Outcome::FAILED, "the agent was told to leave it alone (manage: false)");
  const bool untouched = WritesFor(*task.rule, r, 1.0, std::nullopt).empty();
  if (untouched)
    return answer(pb::Outcome::FAILED,
                  StrCat(taut::Name(r), " is only measured here (", taut::Name(r), ": none)"));
  LimitLane& lane = task.of(r);
  if (order.decided_s() != 0 && lane.others_s.has_value() && order.decided_s() < *lane.others_s) {
    return answer(pb::Outcome::HELD,
                  "somebody else changed the limit since, which holds until the next decision");
  }
  if (order.decided_s() != 0 && !lane.mover.MayFollow(order.decided_s())) {
    return answer(pb::Outcome::HELD, "decided before the OOM kill after which the limit was raised");
  }
  lane.decision = order.decision();
  lane.ordered_us = now.steady_us;
  lane.said.reset();
  lane.owners = !order.has_limit();
  lane.mover.SetTarget(lane.owners ? LimitOf(*task.rule, r, task.owner)
                                   : Bounded(*task.rule, r, order.limit()));
}

// ---- limits ----

void Agent::Move(const std::vector<AgentTask*>& tasks, const NodeTime& now) {
  struct Step {
    AgentTask* task;
    Resource r;
    std::optional<double> limit;
  };
  std::vector<Step> steps;
  for (AgentTask* task : tasks) {
    for (const Resource r : kResources) {
      LimitLane& lane = task->of(r);
      if (!lane.mover.has_target() || options_.observe || !task->rule->manage) continue;
      const bool cpu = r == Resource::kCpu;
      const auto next = lane.mover.Next(cpu ? task->meter.cpu_cores() : task->meter.memory_bytes(),
                                        cpu ? std::nullopt : task->recent_peak(), now.steady_us);
      if (!next.has_value()) {
        Report(*task, r, now);
        continue;
      }
      steps.push_back({task, r, *next});
      for (const auto& [kind, value] : WritesFor(*task->rule, r, *next, lane.mover.current())) {
        parts_.ledger->Note(task->found, kind, task->owner.of(kind), value);
      }
    }
  }
  if (steps.empty()) return;
  if (const absl::Status saved = parts_.ledger->Save(); !saved.ok()) {
    errors_["ledger"] = StrCat(Message(saved), "; no limit is changed that could not be changed back");
    for (const Step& step : steps) {
      LimitLane& lane = step.task->of(step.r);
      lane.error = errors_["ledger"];
      lane.mover.Refused(now.steady_us);
      NoteAsItStands(*step.task, WritesFor(*step.task->rule, step.r, step.limit, lane.mover.current()));
      Report(*step.task, step.r, now);
    }
    return;
  }
  errors_.erase("ledger");
  for (const Step& step : steps) Carry(*step.task, step.r, step.limit, now);
}

void Agent::NoteAsItStands(const AgentTask& task, std::span<const LimitWrites::value_type> writes) {
  for (const auto& [kind, value] : writes) {
    parts_.ledger->Note(task.found, kind, task.owner.of(kind), task.in_force.of(kind));
  }
}

void Agent::Carry(AgentTask& task, Resource r, std::optional<double> limit, const NodeTime& now) {
  LimitLane& lane = task.of(r);
  LimitWrites writes = WritesFor(*task.rule, r, limit, lane.mover.current());
  const LimitKind kind_of_limit = r == Resource::kCpu ? LimitKind::kCpuMax : LimitKind::kMemoryMax;
  const bool at_owners = lane.owners && SameLimit(kind_of_limit, limit, lane.mover.target());
  if (at_owners) writes = WritesForOwner(*task.rule, r, task.owner);
  absl::Status s;
  for (size_t i = 0; i < writes.size(); ++i) {
    const auto& [kind, value] = writes[i];
    s = task.group->SetLimit(kind, value);
    // A kernel without soft limits has the hard one.
    if (kind == LimitKind::kMemoryHigh && s.code() == absl::StatusCode::kUnimplemented) {
      s = absl::OkStatus();
      NoteAsItStands(task, std::span(writes).subspan(i, 1));
      continue;
    }
    if (!s.ok()) {
      // What stands is what stood; the ledger said what was meant.
      NoteAsItStands(task, std::span(writes).subspan(i));
      break;
    }
    task.in_force.of(kind) = value;
    if (at_owners) parts_.ledger->Note(task.found, kind, task.owner.of(kind), value);
  }
  ++(s.ok() ? counts_.writes : counts_.refused_writes);
  if (!writes.empty()) lane.limit_since = now.at;
  if (s.ok()) {
    lane.error.clear();
    lane.mover.Wrote(limit, now.steady_us);
  } else {
    lane.error = Message(s);
    lane.mover.Refused(now.steady_us);
  }
  Report(task, r, now);
}

// Says what became of the order, once for each state it comes to.
void Agent::Report(AgentTask& task, Resource r, const NodeTime& now) {
  LimitLane& lane = task.of(r);
  const MoveState state = lane.mover.state();
  if (lane.decision == 0 || lane.said == state) return;
  lane.said = state;
  constexpr pb::Outcome::Result kResults[] = {pb::Outcome::APPLIED, pb::Outcome::STEPPING, pb::Outcome::HELD,
                                              pb::Outcome::FAILED};
  Say(task, r, kResults[static_cast<size_t>(state)],
      state == MoveState::kRefused ? lane.error : lane.mover.Sentence(), now);
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
  if (lane.mover.current().has_value()) out.set_limit(*lane.mover.current());
  out.set_took_us(static_cast<uint64_t>(std::max<int64_t>(0, now.steady_us - lane.ordered_us)));
}

}  // namespace taut
