#include "agent/agent.h"

#include <algorithm>

#include "agent/messages.h"
#include "agent/release.h"
#include "base/strings.h"
#include "model/units.h"

namespace taut {
namespace {

namespace pb = taut::agent::v1;

constexpr uint64_t kFinderKeys = uint64_t{1} << 62;  // keys of finders, above all task ids
constexpr int64_t kSecond = kMicrosPerSecond;
constexpr int64_t kDepartedUs = 600 * kSecond;  // a task that comes back within this goes on where it was
constexpr int64_t kSuspectUs = kSecond / 2;
constexpr int64_t kTidyUs = 60 * kSecond;
constexpr double kMachineShare = 0.95;
constexpr uint64_t kCompareEvery = 3;  // whole readings between two looks at the limits

Resource ResourceOf(LimitKind kind) {
  return kind == LimitKind::kCpuMax || kind == LimitKind::kCpuWeight ? Resource::kCpu : Resource::kMemory;
}

// Does the rule set this one at all?
bool Sets(const TaskRule& rule, LimitKind kind) {
  const LimitWrites writes = WritesFor(rule, ResourceOf(kind), 1.0, std::nullopt);
  return std::any_of(writes.begin(), writes.end(), [kind](const auto& w) { return w.first == kind; });
}

}  // namespace

Agent::Agent(AgentOptions options, const Parts& parts) : options_(std::move(options)), parts_(parts) {
  if (parts_.watch == nullptr) return;
  for (size_t i = 0; i < parts_.finders.size(); ++i) {
    const Wakeup wakeup = parts_.finders[i]->wakeup();
    if (wakeup.fd >= 0) parts_.watch->Add(wakeup, kFinderKeys + i);
  }
}

Agent::~Agent() {
  if (parts_.watch == nullptr) return;
  for (const auto& [id, task] : tasks_) {
    if (task->group->oom_wakeup().fd >= 0) parts_.watch->Remove(task->group->oom_wakeup().fd);
  }
}

// ---- which tasks there are ----

void Agent::Find(const NodeTime& now) {
  for (size_t i = 0; i < parts_.finders.size(); ++i) FindWith(i, now);
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
        left.push_back(&entry);
        break;
      case Whereabouts::kAsleep:
      case Whereabouts::kNotKnown:
        break;
    }
  }
  errors_.erase("limits left over");
  if (!left.empty()) {
    errors_["limits left over"] =
        StrCat(left.size(), " tasks that are not looked after any more have limits that were set here, as ",
               left.front()->job, " / ", left.front()->task, "; `tautlet --release` gives them back");
  }
  for (const std::string& identity : gone) parts_.ledger->Forget(identity);
  (void)parts_.ledger->Save();  // what is left over does no harm
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
    errors_[left_out] = StrCat(refusals.size(), " groups, as ", refusals.front());
  }
  absl::flat_hash_map<std::string, bool> here;
  for (const FoundTask& f : *found) here[f.identity] = true;
  std::vector<uint64_t> gone;
  for (const auto& [id, task] : tasks_) {
    if (task->finder == finder && !here.contains(task->found.identity)) gone.push_back(id);
  }
  for (const uint64_t id : gone) RemoveTask(id, now);
  std::vector<std::string> settled;
  for (const auto& [identity, its_finder] : task_errors_) {
    if (its_finder == finder && !here.contains(identity)) settled.push_back(identity);
  }
  for (const std::string& identity : settled) ClearTaskError(identity);
  for (const FoundTask& f : *found) {
    if (!by_identity_.contains(f.identity)) AddTask(finder, f, now);
  }
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
  if (const absl::StatusOr<TaskLimits> limits = task->group->ReadLimits(); limits.ok()) {
    task->in_force = task->owner = *limits;
  }
  AdoptDeparted(*task, name);
  AdoptLedger(*task, now);
  const uint64_t id = ++last_id_;
  const Wakeup wakeup = task->group->oom_wakeup();
  if (parts_.watch != nullptr && wakeup.fd >= 0) parts_.watch->Add(wakeup, id);
  AgentTask& added = *(tasks_[id] = std::move(task));
  by_identity_[found.identity] = id;
  by_name_[name] = id;
  fresh_.push_back(id);
  std::erase(gone_, name);
  Look(added, ReadDepth::kAll, now);
  if (tasks_.contains(id)) Move({&added}, now);
}

// A task that comes back under its name goes on where it was; the limits of its owner are those of now.
void Agent::AdoptDeparted(AgentTask& task, const Name& name) {
  const auto old = departed_.find(name);
  if (old == departed_.end()) return;
  task.lanes = std::move(old->second.lanes);
  task.ooms = old->second.ooms;
  const bool is_new = old->second.found.identity != task.found.identity;
  for (LimitLane& lane : task.lanes) {
    lane.said.reset();
    if (is_new) lane.others_s.reset();  // they changed another one's
  }
  departed_.erase(old);
}

// What an earlier life of this agent set on this very task is not its owner's.
void Agent::AdoptLedger(AgentTask& task, const NodeTime& now) {
  if (const LedgerEntry* entry = parts_.ledger->Find(task.found.identity); entry != nullptr) {
    for (const auto& [kind, value] : entry->values) task.owner.of(kind) = value.owner;
    CompareLimits(task, Since::kLastLife, now);
  }
  for (const Resource r : kResources) {
    LimitLane& lane = task.of(r);
    lane.mover.SetCurrent(LimitOf(*task.rule, r, task.in_force));
    if (lane.owners && lane.mover.has_target()) lane.mover.SetTarget(LimitOf(*task.rule, r, task.owner));
  }
}

void Agent::RemoveTask(uint64_t id, const NodeTime& now) {
  const auto it = tasks_.find(id);
  AgentTask& task = *it->second;
  std::vector<NodeWindow> last;
  task.meter.CloseAll(last);
  for (const NodeWindow& w : last) *of_departed_[w.window].add_tasks() = WindowMessage(task, w);
  const Name name{task.found.job, task.found.task};
  departed_[name] = {task.found,    task.rule, std::move(task.lanes), task.in_force.memory_max_bytes,
                     now.steady_us, task.ooms};
  const Wakeup wakeup = task.group->oom_wakeup();
  if (parts_.watch != nullptr && wakeup.fd >= 0) parts_.watch->Remove(wakeup.fd);
  ClearTaskError(task.found.identity);
  by_identity_.erase(task.found.identity);
  by_name_.erase(name);
  if (std::erase(fresh_, id) == 0) gone_.push_back(name);
  for (auto& [window, of_tasks] : windows_) {
    for (auto& [its_id, w] : of_tasks) {
      if (its_id == id) *of_departed_[window].add_tasks() = WindowMessage(task, w);
    }
    std::erase_if(of_tasks, [id](const auto& e) { return e.first == id; });
  }
  tasks_.erase(it);
}

bool Agent::TakeOthersChange(AgentTask& task, LimitKind kind, Since since) {
  const std::optional<double>& has = task.in_force.of(kind);
  const LedgerEntry* entry = parts_.ledger->Find(task.found.identity);
  const bool ours = entry != nullptr && entry->values.contains(kind);
  if (!ours) {
    if (SameLimit(kind, task.owner.of(kind), has)) return false;
    task.owner.of(kind) = has;
    return true;
  }
  const LedgerValue noted = entry->values.at(kind);
  if (SameLimit(kind, has, noted.set)) return false;
  parts_.ledger->Note(task.found, kind, task.owner.of(kind), has);
  // A life of ours that ended between ledger and kernel, or a start with the owner's limits.
  const bool at_owners = SameLimit(kind, has, noted.owner);
  if (at_owners && since == Since::kLastLife) return false;
  ++counts_.foreign_changes;
  if (!at_owners) {
    task.owner.of(kind) = has;
    parts_.ledger->SetOwner(task.found.identity, kind, has);
  }
  return true;
}

void Agent::CompareLimits(AgentTask& task, Since since, const NodeTime& now) {
  const absl::StatusOr<TaskLimits> limits = task.group->ReadLimits();
  if (!limits.ok()) return;
  task.in_force = *limits;
  bool tell = false;
  for (int i = 0; i < kNumLimitKinds; ++i) {
    const auto kind = static_cast<LimitKind>(i);
    if (!TakeOthersChange(task, kind, since)) continue;
    tell = true;
    if (!Sets(*task.rule, kind)) continue;
    LimitLane& lane = task.of(ResourceOf(kind));
    lane.mover.SetCurrent(LimitOf(*task.rule, ResourceOf(kind), task.in_force));
    lane.others_s = now.at.seconds();
    if (lane.mover.has_target() && lane.decision != 0) {
      Say(task, ResourceOf(kind), pb::Outcome::HELD,
          "somebody else changed the limit since, which holds until the next decision", now);
      lane.decision = 0;
    }
    lane.mover.ClearTarget();
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

// ---- measuring ----

void Agent::Sample(const NodeTime& now) {
  ++sample_;
  std::vector<uint64_t> ids;
  ids.reserve(tasks_.size());
  for (const auto& [id, task] : tasks_) ids.push_back(id);
  for (const uint64_t id : ids) {
    const auto it = tasks_.find(id);
    if (it == tasks_.end()) continue;
    const auto every = static_cast<uint64_t>(options_.all_every);
    const bool all = (sample_ + id) % every == 0;
    Look(*it->second, all ? ReadDepth::kAll : ReadDepth::kUsage, now);
    if (all && (sample_ + id) / every % kCompareEvery == 0 && tasks_.contains(id)) {
      CompareLimits(*tasks_.at(id), Since::kLastLook, now);
    }
  }
  std::vector<AgentTask*> moving;
  std::vector<NodeWindow> closed;
  for (const auto& [id, task] : tasks_) {
    closed.clear();
    task->meter.CloseUntil(now.at, closed);
    for (NodeWindow& w : closed) windows_[w.window].emplace_back(id, std::move(w));
    for (const LimitLane& lane : task->lanes) {
      if (lane.mover.has_target() && (moving.empty() || moving.back() != task.get())) {
        moving.push_back(task.get());
      }
    }
  }
  SendWindows(now);
  measured_ = now.at;
  Move(moving, now);
}

void Agent::Look(AgentTask& task, ReadDepth depth, const NodeTime& now) {
  TaskReading reading;
  const absl::Status s = task.group->Read(depth, reading);
  ++counts_.samples;
  if (!s.ok()) {
    ++counts_.read_errors;
    if (s.code() == absl::StatusCode::kNotFound) {
      const auto it = by_identity_.find(task.found.identity);
      if (it != by_identity_.end()) RemoveTask(it->second, now);
    } else {
      TaskError(task.finder, task.found.identity, std::string(Message(s)));
    }
    return;
  }
  if (!task_errors_.empty()) ClearTaskError(task.found.identity);
  const uint64_t jumps = task.meter.counts().jumps;
  task.meter.Add(reading, now.steady_us, now.at);
  counts_.jumps += task.meter.counts().jumps - jumps;
  task.NotePeak(task.meter.memory_bytes(), now.steady_us,
                static_cast<int64_t>(static_cast<double>(30 * kSecond) / options_.speed));
  if (depth != ReadDepth::kAll) return;
  CheckOom(task, reading, now);
  CheckThrottling(task, reading, now);
}

void Agent::SendWindows(const NodeTime& now) {
  for (const auto& [window, tasks] : windows_) {
    pb::FromAgent message;
    pb::Windows& out = *message.mutable_windows();
    out.set_window(window.index);
    if (const auto gone = of_departed_.find(window); gone != of_departed_.end()) {
      *out.mutable_tasks() = gone->second.tasks();
      of_departed_.erase(gone);
    }
    for (const auto& [id, w] : tasks) *out.add_tasks() = WindowMessage(*tasks_.at(id), w);
    if (out.tasks_size() == 0) continue;
    ++counts_.windows;
    Send(std::move(message), Keep::kUntilAcknowledged);
  }
  windows_.clear();
  // Of windows that only tasks saw which are gone.
  const WindowId open = WindowId::Of(now.at);
  while (!of_departed_.empty() && of_departed_.begin()->first < open) {
    pb::FromAgent message;
    *message.mutable_windows() = std::move(of_departed_.begin()->second);
    message.mutable_windows()->set_window(of_departed_.begin()->first.index);
    of_departed_.erase(of_departed_.begin());
    ++counts_.windows;
    Send(std::move(message), Keep::kUntilAcknowledged);
  }
}

void Agent::Stop(const NodeTime& now) {
  for (const auto& [id, task] : tasks_) {
    std::vector<NodeWindow> open;
    task->meter.CloseAll(open);
    for (NodeWindow& w : open) windows_[w.window].emplace_back(id, std::move(w));
  }
  for (const auto& [window, tasks] : of_departed_) windows_.try_emplace(window);
  SendWindows(now);
}

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
  oom.mutable_name()->set_job(task.job);
  oom.mutable_name()->set_task(task.task);
  for (const auto& [key, value] : task.labels) (*oom.mutable_labels())[key] = value;
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
  const std::optional<double> raised =
      lane.mover.OnThrottled(*reading.cpu_periods - *periods, *reading.cpu_throttled_periods - *throttled,
                             UpperOf(task.found, *task.rule, Resource::kCpu), now.steady_us);
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
  if (outcomes_.outcomes_size() > 0) {
    pb::FromAgent message;
    message.mutable_outcomes()->Swap(&outcomes_);
    Send(std::move(message), Keep::kNo);
  }
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
  *out.mutable_name() = NameMessage(task);
  out.set_resource(r == Resource::kCpu ? pb::CPU : pb::MEMORY);
  out.set_result(result);
  out.set_text(std::move(text));
  if (lane.mover.current().has_value()) out.set_limit(*lane.mover.current());
  out.set_took_us(static_cast<uint64_t>(std::max<int64_t>(0, now.steady_us - lane.ordered_us)));
}

// ---- telling ----

void Agent::SendTasks(bool all) {
  pb::FromAgent message;
  pb::Tasks& out = *message.mutable_tasks();
  out.set_all(all);
  const auto add = [&](const AgentTask& task) {
    *out.add_started() = TaskMessage(task, task.rule->manage && !options_.observe);
  };
  if (all) {
    for (const auto& [id, task] : tasks_) add(*task);
  } else {
    std::sort(fresh_.begin(), fresh_.end());
    fresh_.erase(std::unique(fresh_.begin(), fresh_.end()), fresh_.end());
    for (const uint64_t id : fresh_) {
      if (tasks_.contains(id)) add(*tasks_.at(id));
    }
    for (const auto& [job, task] : gone_) {
      pb::TaskName* name = out.add_gone();
      name->set_job(job);
      name->set_task(task);
    }
  }
  fresh_.clear();
  gone_.clear();
  Send(std::move(message), Keep::kNo);
}

void Agent::Beat(double cpu_share, uint64_t resident_bytes) {
  const UplinkStatus status = parts_.uplink->status();
  pb::FromAgent message;
  pb::Heartbeat& beat = *message.mutable_heartbeat();
  beat.set_tasks(static_cast<uint32_t>(tasks_.size()));
  beat.set_queued_bytes(status.queued_bytes);
  beat.set_dropped(status.dropped);
  beat.set_cpu_share(cpu_share);
  beat.set_resident_bytes(resident_bytes);
  Send(std::move(message), Keep::kNo);
  if (outcomes_.outcomes_size() == 0) return;
  pb::FromAgent outcomes;
  outcomes.mutable_outcomes()->Swap(&outcomes_);
  Send(std::move(outcomes), Keep::kNo);
}

void Agent::Send(pb::FromAgent message, Keep keep) {
  message.set_now_us(measured_.us);
  parts_.uplink->Send(std::move(message), keep);
}

}  // namespace taut
