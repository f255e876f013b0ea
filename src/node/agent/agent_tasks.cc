// Maintains the set of tasks: adds and removes tasks, and determines who owns their limits.
#include <algorithm>
#include <set>
#include <string_view>

#include "common/base/strings.h"
#include "node/agent/agent.h"
#include "node/agent/messages.h"
#include "node/agent/release.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;

// A task that returns within this time continues with its old state.
constexpr int64_t kDepartedUs = 600 * kMicrosPerSecond;
constexpr int64_t kTidyUs = 60 * kMicrosPerSecond;
constexpr int64_t kStartupGraceS = 300;  // grace if neither the rule nor the terms define one

Resource ResourceOf(LimitKind kind) {
  return kind == LimitKind::kCpuMax || kind == LimitKind::kCpuWeight ? Resource::kCpu : Resource::kMemory;
}

// Returns true if the rule writes this kind of limit at all.
bool Sets(const TaskRule& rule, LimitKind kind) {
  const LimitWrites writes = WritesFor(rule, ResourceOf(kind), 1.0, std::nullopt);
  return std::any_of(writes.begin(), writes.end(), [kind](const auto& w) { return w.first == kind; });
}

}  // namespace

// ---- the tasks of the machine ----

void Agent::Find(const NodeTime& now) {
  for (size_t i = 0; i < parts_.finders.size(); ++i) FindWith(i, now);
  ReportOldActs(now);
  for (auto it = departed_.begin(); it != departed_.end();) {
    it = now.steady_us - it->second.since_us > kDepartedUs ? departed_.erase(it) : std::next(it);
  }
  TidyLedger(now);
  if (parts_.uplink->TakeConnected()) {
    SendTasks(true);
  } else if (!fresh_.empty() || !gone_.empty()) {
    SendTasks(false);
  }
}

void Agent::TidyLedger(const NodeTime& now) {
  if (options_.observe || (tidied_us_ != INT64_MIN && now.steady_us - tidied_us_ < kTidyUs)) return;
  tidied_us_ = now.steady_us;
  std::vector<std::string> gone;
  std::vector<const LedgerEntry*> left;
  for (const auto& [identity, entry] : parts_.ledger->entries()) {
    if (by_identity_.contains(identity)) continue;
    switch (WhereIs(identity, entry, parts_.finders)) {
      case Whereabouts::kGone:
        gone.push_back(identity);
        break;
      case Whereabouts::kThere:
        // No rule matches the task any more, but it still has the agent's limits: report the task.
        if (entry.is_changed()) left.push_back(&entry);
        break;
      case Whereabouts::kAsleep:
      case Whereabouts::kNotKnown:
        break;  // a later Find checks the entry again
    }
  }
  errors_.erase("limits without a rule");
  if (!left.empty()) {
    errors_["limits without a rule"] = StrCat(
        left.size(), " tasks that no rule matches any more have limits that this agent set, such as ",
        left.front()->job, " / ", left.front()->task, "; `tautlet --release` restores the owners' limits");
  }
  for (const std::string& identity : gone) parts_.ledger->Forget(identity);
  // Delete the terms of jobs without tasks: the daemon sends them again with the next task. Until all finders
  // have succeeded once, a job may only seem to have no tasks.
  if (std::find(looked_.begin(), looked_.end(), false) == looked_.end()) {
    std::set<std::string_view> jobs;
    for (const auto& [id, task] : tasks_) jobs.insert(task->found.job);
    for (const auto& [name, task] : departed_) jobs.insert(name.first);
    for (const auto& [identity, entry] : parts_.ledger->entries()) jobs.insert(entry.job);
    std::vector<std::string> over;
    for (const auto& [job, terms] : parts_.ledger->terms()) {
      if (!jobs.contains(job)) over.push_back(job);
    }
    for (const std::string& job : over) {
      parts_.ledger->ForgetTerms(job);
      throttle_terms_.erase(job);
    }
  }
  (void)parts_.ledger->Save();  // leftover entries do no harm
}

void Agent::TaskError(size_t finder, const std::string& identity, std::string text) {
  errors_[identity] = std::move(text);
  task_errors_[identity] = finder;
}

void Agent::ClearTaskError(const std::string& identity) {
  if (task_errors_.erase(identity) > 0) errors_.erase(identity);
}

void Agent::FindWith(size_t finder, const NodeTime& now) {
  const std::string about(parts_.finders[finder]->name());
  absl::StatusOr<std::vector<FoundTask>> found = parts_.finders[finder]->Find();
  if (!found.ok()) {
    errors_[about] = Message(found.status());
    return;
  }
  errors_.erase(about);
  const std::vector<std::string> refusals = parts_.finders[finder]->refusals();
  const std::string left_out = StrCat(about, ", left out");
  if (refusals.empty()) {
    errors_.erase(left_out);
  } else {
    errors_[left_out] = StrCat(parts_.finders[finder]->num_refused(), " groups, as ", refusals.front());
  }
  absl::flat_hash_map<std::string, bool> here;
  for (const FoundTask& f : *found) here[f.identity] = true;
  std::vector<uint64_t> gone;
  for (const auto& [id, task] : tasks_) {
    if (task->finder == finder && !here.contains(task->found.identity)) gone.push_back(id);
  }
  // Remove tasks before adding tasks: a restarted task has the same name with a new identity, and names must be
  // unique.
  for (const uint64_t id : gone) RemoveTask(id, now);
  std::vector<std::string> settled;
  for (const auto& [identity, its_finder] : task_errors_) {
    if (its_finder == finder && !here.contains(identity)) settled.push_back(identity);
  }
  for (const std::string& identity : settled) ClearTaskError(identity);
  for (const FoundTask& f : *found) {
    if (!by_identity_.contains(f.identity)) AddTask(finder, f, now);
  }
  looked_[finder] = true;
}

void Agent::AddTask(size_t finder, const FoundTask& found, const NodeTime& now) {
  const Name name{found.job, found.task};
  if (by_name_.contains(name)) {
    return TaskError(finder, found.identity,
                     StrCat("is called ", found.job, " / ", found.task, ", as another task is"));
  }
  absl::StatusOr<std::unique_ptr<TaskGroup>> group = parts_.finders[finder]->Open(found);
  if (!group.ok()) {
    if (group.status().code() != absl::StatusCode::kNotFound)
      TaskError(finder, found.identity, std::string(Message(group.status())));
    return;
  }
  ClearTaskError(found.identity);
  MeterOptions meter;
  meter.speed = options_.speed;
  auto task = std::make_unique<AgentTask>(found, options_.rules[found.rule], *std::move(group), meter,
                                          options_.moves);
  task->finder = finder;
  task->tier = TierOf(options_.tiers, found, *task->rule);
  if (const absl::StatusOr<TaskLimits> limits = task->group->ReadLimits(); limits.ok()) {
    task->in_force = task->owner = *limits;
  }
  // The limits were read just now. RestoreHolds and AdoptLedger below rely on them.
  task->compared_us = now.steady_us;
  task->above = task->group->ReadAbove();
  for (LimitLane& lane : task->lanes) lane.limit_since = now.at;
  // Adopt the state of the departed task first: this state is newer than the ledger, which then provides only the
  // owners' values.
  AdoptLedger(*task, AdoptDeparted(*task, name), now);
  NoteStart(*task, now);
  HoldInGrace(*task);
  task->ooms.Begin(now.steady_us);
  const uint64_t id = ++last_id_;
  const Wakeup wakeup = task->group->oom_wakeup();
  if (parts_.watch != nullptr && wakeup.fd >= 0) parts_.watch->Add(wakeup, id);
  AgentTask& added = *(tasks_[id] = std::move(task));
  by_identity_[found.identity] = id;
  by_name_[name] = id;
  fresh_.push_back(id);
  // A task that ended and returned between two reports is reported as started, not as gone.
  gone_.erase(name);
  Look(added, ReadDepth::kAll, now);
  if (!tasks_.contains(id)) return;  // Look removes a task that ended meanwhile
  SetByTier(added, true);
  ScoreProcesses(added, GroupPaths());
  Move({&added}, now);
}

// A task that returns under its name continues with its old state, but with its owner's present limits.
bool Agent::AdoptDeparted(AgentTask& task, const Name& name) {
  const auto old = departed_.find(name);
  if (old == departed_.end()) return false;
  task.lanes = std::move(old->second.lanes);
  task.ooms = old->second.ooms;
  const bool is_new = old->second.found.identity != task.found.identity;
  for (LimitLane& lane : task.lanes) {
    lane.said.reset();
    lane.mover.ForgetRefusals();
    lane.mover.steered.reset();
    if (is_new) lane.others_s.reset();  // another program changed only the previous task's limit
  }
  departed_.erase(old);
  return true;
}

// A task found by the first Find may have run for a long time, so its start is unknown unless the group has a
// start time. A sped-up clock cannot be compared with the group's start time.
void Agent::NoteStart(AgentTask& task, const NodeTime& now) {
  if (looked_[task.finder]) task.started_us = now.steady_us;
  const std::optional<int64_t> started_s = task.group->started_s();
  if (!started_s.has_value() || options_.speed != 1) return;
  task.started_us = now.steady_us - std::max<int64_t>(0, now.at.seconds() - *started_s) * kMicrosPerSecond;
}

// Cuts must wait: a program needs more memory and CPU to start than to run, and nothing was measured yet.
void Agent::HoldInGrace(AgentTask& task) {
  if (!task.started_us.has_value()) return;
  const auto terms = parts_.ledger->terms().find(task.found.job);
  const std::optional<int64_t> of_job =
      terms == parts_.ledger->terms().end() ? std::nullopt : terms->second.startup_grace_s;
  const int64_t grace_s = task.rule->startup_grace_s.value_or(of_job.value_or(kStartupGraceS));
  const auto grace_us =
      static_cast<int64_t>(static_cast<double>(grace_s) / options_.speed * kMicrosPerSecond);
  task.cuts_from_us = *task.started_us + grace_us;
  for (LimitLane& lane : task.lanes) lane.mover.HoldCutsUntil(task.cuts_from_us);
}

void Agent::NoteHold(const FoundTask& task, const LimitLane& lane, Resource r, const NodeTime& now) {
  if (options_.observe) return;
  const MoveFloors floors = lane.mover.floors(now.steady_us);
  LedgerHold hold;
  hold.owner_changed_s = lane.others_s;
  hold.oom_s = floors.oom_s;
  hold.oom_floor = floors.oom;
  hold.throttle_floor = floors.throttle;
  if (floors.throttle.has_value()) {
    // Steady time ends with the process, so the ledger stores the end of the hold in the node's time.
    const double left_s = static_cast<double>(floors.throttle_left_us) * options_.speed / kMicrosPerSecond;
    hold.throttle_until_s = now.at.seconds() + static_cast<int64_t>(left_s);
  }
  parts_.ledger->SetHold(task, r, hold);
}

void Agent::RestoreHolds(AgentTask& task, const LedgerEntry& entry, const NodeTime& now) {
  for (const Resource r : kResources) {
    const LedgerHold& hold = entry.holds[static_cast<size_t>(r)];
    LimitLane& lane = task.of(r);
    lane.others_s = hold.owner_changed_s;
    MoveFloors floors;
    floors.oom = hold.oom_floor;
    floors.oom_s = hold.oom_s;
    floors.throttle = hold.throttle_floor;
    if (hold.throttle_until_s.has_value()) {
      const auto left_s = static_cast<double>(*hold.throttle_until_s - now.at.seconds());
      floors.throttle_left_us = static_cast<int64_t>(left_s / options_.speed * kMicrosPerSecond);
    }
    lane.mover.Restore(floors, now.steady_us);
    lane.NotAfter(now.at.seconds());
  }
}

// Limits that an earlier run of the agent set on this task are not the owner's values.
void Agent::AdoptLedger(AgentTask& task, bool came_back, const NodeTime& now) {
  if (const LedgerEntry* entry = parts_.ledger->Find(task.found.identity); entry != nullptr) {
    for (const auto& [kind, value] : entry->values) task.owner.of(kind) = value.owner;
    if (!came_back) RestoreHolds(task, *entry, now);
    CompareLimits(task, now, came_back);
  }
  for (const Resource r : kResources) {
    LimitLane& lane = task.of(r);
    lane.mover.SetCurrent(LimitOf(task, r, task.in_force));
    if (lane.owners && lane.mover.target().has_value()) lane.mover.SetTarget(LimitOf(task, r, task.owner));
  }
}

void Agent::RemoveTask(uint64_t id, const NodeTime& now) {
  const auto it = tasks_.find(id);
  AgentTask& task = *it->second;
  std::vector<NodeWindow> last;
  task.meter.CloseAll(last);
  PutNeeded(task, last);
  for (const NodeWindow& w : last) *of_departed_[w.window].add_tasks() = WindowMessage(task, w);
  const Name name{task.found.job, task.found.task};
  // The group and its counters no longer exist: a kill that the engine reported is counted now.
  const uint64_t kills = task.ooms.End(now.steady_us);
  Departed& departed = departed_[name] = Departed{.found = task.found,
                                                  .rule = task.rule,
                                                  .lanes = std::move(task.lanes),
                                                  .memory_limit = task.in_force.memory_max_bytes,
                                                  .owner_memory = OwnersMemory(*task.rule, task.owner),
                                                  .since_us = now.steady_us,
                                                  .ooms = task.ooms};
  if (kills > 0) OnLateOom(departed, kills, now);
  const Wakeup wakeup = task.group->oom_wakeup();
  if (parts_.watch != nullptr && wakeup.fd >= 0) parts_.watch->Remove(wakeup.fd);
  ClearTaskError(task.found.identity);
  if (task.throttle_act.has_value()) DropAct(*task.throttle_act);  // the throttle ended with the group
  by_identity_.erase(task.found.identity);
  by_name_.erase(name);
  // A task that was never reported as started need not be reported as gone.
  if (std::erase(fresh_, id) == 0) gone_.emplace(name, NameMessage(task.found));
  // Windows that were closed but not sent still need the task for their names: convert them now.
  for (auto& [window, of_tasks] : windows_) {
    for (auto& [its_id, w] : of_tasks) {
      if (its_id == id) *of_departed_[window].add_tasks() = WindowMessage(task, w);
    }
    std::erase_if(of_tasks, [id](const auto& e) { return e.first == id; });
  }
  tasks_.erase(it);
}

bool Agent::TakeOthersChange(AgentTask& task, LimitKind kind, bool came_back, const NodeTime& now) {
  const std::optional<double>& has = task.in_force.of(kind);
  const LedgerEntry* entry = parts_.ledger->Find(task.found.identity);
  const bool ours = entry != nullptr && entry->values.contains(kind);
  if (!ours) {
    if (SameLimit(kind, task.owner.of(kind), has)) return false;
    task.owner.of(kind) = has;
    return true;
  }
  const LedgerValue noted = entry->values.at(kind);
  // The last write was made, but its result was not saved: the agent was killed in between.
  if (noted.next.has_value() && SameLimit(kind, has, *noted.next)) {
    parts_.ledger->Confirm(task.found.identity, kind);
    return false;
  }
  const bool at_owners = SameLimit(kind, has, noted.owner);
  // The agent was killed before the kernel had the new value.
  if ((noted.set.has_value() && SameLimit(kind, has, *noted.set)) || (!noted.set.has_value() && at_owners)) {
    parts_.ledger->Withdraw(task.found.identity, kind);
    return false;
  }
  const std::optional<double> was = noted.set.value_or(noted.owner);
  parts_.ledger->Note(task.found, kind, task.owner.of(kind), has);
  if (at_owners && came_back) return false;  // each start begins with the owner's limits
  const bool sets = task.rule->manage && !options_.observe;
  if (sets && at_owners && task.group->MayBeReset(kind) && task.resets.Take(now.steady_us)) {
    ++counts_.resets;
    Act(task.found,
        {.action = "limit_reset",
         .resource = ResourceOf(kind),
         .from = was,
         .to = has,
         .text = StrCat(node::Name(kind), ": systemd wrote the unit's own value; it is set again")});
    if (Sets(*task.rule, kind)) {
      task.of(ResourceOf(kind)).mover.SetCurrent(LimitOf(task, ResourceOf(kind), task.in_force));
    } else {
      (void)WriteNow(task, kind, was);  // after an error the next comparison finds the reset again
    }
    return false;
  }
  ++counts_.foreign_changes;
  Act(task.found, {.action = "owner_changed",
                   .resource = ResourceOf(kind),
                   .from = was,
                   .to = has,
                   .text = std::string(node::Name(kind))});
  if (!at_owners) {
    task.owner.of(kind) = has;
    parts_.ledger->SetOwner(task.found.identity, kind, has);
  }
  return true;
}

void Agent::CompareLimits(AgentTask& task, const NodeTime& now, bool came_back) {
  task.compared_us = now.steady_us;
  const absl::StatusOr<TaskLimits> limits = task.group->ReadLimits();
  if (!limits.ok()) return;
  // Compare the limits before in_force is replaced: a difference means that the present limit begins now.
  for (const Resource r : kResources) {
    const bool same = LimitOf(task, r, *limits) == LimitOf(task, r, task.in_force);
    if (!same) task.of(r).limit_since = now.at;
  }
  task.in_force = *limits;
  ReadAbove(task, now);
  bool tell = false;
  for (int i = 0; i < kNumLimitKinds; ++i) {
    const auto kind = static_cast<LimitKind>(i);
    if (!TakeOthersChange(task, kind, came_back, now)) continue;
    tell = true;
    task.is_others[static_cast<size_t>(i)] = true;
    // The other program owns memory.high now: restoring the value from before the throttle would undo its change.
    if (kind == LimitKind::kMemoryHigh && task.high_before.has_value()) {
      task.high_before.reset();
      EndThrottleAct(task, FiguresOf(task), "another program has set memory.high", now);
    }
    if (!Sets(*task.rule, kind)) continue;
    LimitLane& lane = task.of(ResourceOf(kind));
    lane.mover.SetCurrent(LimitOf(task, ResourceOf(kind), task.in_force));
    lane.others_s = now.at.seconds();
    // The order is answered once and then closed: later states of this lane concern no order.
    if (lane.mover.target().has_value() && lane.decision != 0) {
      Say(task, ResourceOf(kind), pb::Outcome::HELD,
          "the limit was changed by another program; it stays until the next decision", now);
      lane.decision = 0;
    }
    lane.mover.ClearTarget();
    lane.from.reset();
    if (task.rule->manage) NoteHold(task.found, lane, ResourceOf(kind), now);
  }
  const auto it = by_identity_.find(task.found.identity);
  if (tell && it != by_identity_.end()) fresh_.push_back(it->second);
}

const AgentTask* Agent::FindTask(const std::string& job, const std::string& task) const {
  const auto it = by_name_.find(Name{job, task});
  return it == by_name_.end() ? nullptr : tasks_.at(it->second).get();
}

void Agent::ForEachTask(const std::function<void(const AgentTask&)>& fn) const {
  for (const auto& [id, task] : tasks_) fn(*task);
}

}  // namespace taut::node
