// AgentHub: receives messages from agents and acknowledges them. The orders to agents are in agent_hub_orders.cc.
#include "server/agents/agent_hub.h"

#include <algorithm>

#include "common/base/strings.h"
#include "server/agents/machine_bounds.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;

std::vector<LabelView> LabelsOf(const google::protobuf::Map<std::string, std::string>& labels) {
  std::vector<LabelView> out;
  for (const auto& label : labels) out.push_back({label.first, label.second});
  std::sort(out.begin(), out.end(), [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
  return out;
}

float OrAbsent(bool has, float value) { return has ? value : kAbsent; }

// Converts a limit of a message. On the wire, 0 means that the kernel has no limit.
float LimitOrNone(bool has, float limit) { return !has ? kAbsent : limit > 0 ? limit : kNoLimit; }

ReportedWindow WindowOf(int32_t window, const pb::TaskWindow& t, bool managed) {
  ReportedWindow out;
  out.window = {window};
  out.figures.cpu_mean_cores = OrAbsent(t.has_cpu_mean_cores(), t.cpu_mean_cores());
  out.figures.cpu_peak_cores = OrAbsent(t.has_cpu_peak_cores(), t.cpu_peak_cores());
  out.figures.memory_mean_bytes = OrAbsent(t.has_memory_mean_bytes(), t.memory_mean_bytes());
  out.figures.memory_peak_bytes = OrAbsent(t.has_memory_peak_bytes(), t.memory_peak_bytes());
  out.figures.memory_needed_bytes = OrAbsent(t.has_memory_needed_peak_bytes(), t.memory_needed_peak_bytes());
  out.cpu_limit_cores = OrAbsent(t.has_owner_cpu_cores(), t.owner_cpu_cores());
  out.memory_limit_bytes = OrAbsent(t.has_owner_memory_bytes(), t.owner_memory_bytes());
  out.memory_kernel_peak_bytes = OrAbsent(t.has_memory_kernel_peak_bytes(), t.memory_kernel_peak_bytes());
  out.report.managed = managed;
  out.report.cpu_limit_cores = LimitOrNone(t.has_cpu_limit_cores(), t.cpu_limit_cores());
  out.report.memory_limit_bytes = LimitOrNone(t.has_memory_limit_bytes(), t.memory_limit_bytes());
  out.report.cpu_steady = t.cpu_limit_steady();
  out.report.memory_steady = t.memory_limit_steady();
  out.report.cpu_periods = t.cpu_periods();
  out.report.cpu_throttled_periods = t.cpu_throttled_periods();
  const int n = std::min(t.cpu_buckets_size(), t.cpu_seconds_size());
  out.cpu_buckets.reserve(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    out.cpu_buckets.push_back(
        {static_cast<Bucket>(std::min<uint32_t>(t.cpu_buckets(i), Grid::kMaxBuckets)), t.cpu_seconds(i)});
  }
  return out;
}

// The kinds have equal numbers on the wire and in the model. CheckMessage rejects all other kinds.
static_assert(static_cast<size_t>(pb::TierAct::KERNEL_KILL) == static_cast<size_t>(TierActKind::kKernelKill));

}  // namespace

void AgentHub::SetIntake(TaskIntake* intake) {
  const std::lock_guard lock(mutex_);
  intake_ = intake;
  started_s_ = options_.steady_s();
}

void AgentHub::Send(SessionId session, pb::ToAgent message) {
  if (AgentServer* server = server_; server != nullptr) server->Send(session, std::move(message));
}

void AgentHub::Close(SessionId session) {
  if (AgentServer* server = server_; server != nullptr) server->Close(session);
}

// ---- the loop ----

void AgentHub::BeginTick() {
  bool hold = false;
  {
    const std::lock_guard lock(mutex_);
    ++tick_;
    const double now = options_.steady_s();
    // After a restart of tautd, agents reconnect within seconds and resend their kept messages.
    hold = intake_->stored_through().has_value() && now < started_s_ + options_.hold_s / 3;
    for (const auto& [name, agent] : agents_) {
      hold |= agent.session != 0 && agent.to_replay > 0 && now < agent.connected_s + options_.hold_s;
    }
    // The hold is bounded for all agents together, even if they connect one after the other.
    if (!hold) hold_since_s_.reset();
    if (hold && !hold_since_s_.has_value()) hold_since_s_ = now;
    hold = hold && now < *hold_since_s_ + options_.hold_s;
  }
  // Called without mutex_, because the intake locks its own mutex and the call may wait for that lock.
  intake_->HoldWindows(hold);
}

void AgentHub::EndTick(bool ok) {
  // Read stored_through before the agents' lists: a window that is stored between the two reads is
  // acknowledged with the next tick.
  const std::optional<WindowId> stored = intake_->stored_through();
  std::vector<std::pair<SessionId, uint64_t>> acks;
  {
    const std::lock_guard lock(mutex_);
    if (ok) good_tick_ = tick_;
    for (auto& [name, agent] : agents_) {
      const uint64_t safe = agent.unacknowledged.TakeSafe(stored, good_tick_);
      if (safe != 0 && agent.session != 0) acks.emplace_back(agent.session, safe);
    }
  }
  // Acknowledge only stored messages, because an agent deletes acknowledged messages.
  for (const auto& [session, sequence] : acks) {
    pb::ToAgent message;
    message.mutable_ack()->set_sequence(sequence);
    Send(session, std::move(message));
  }
  SendStanding();
}

void AgentHub::OnSettings(const std::string& job) {
  const std::lock_guard lock(mutex_);
  agents_by_task_.MarkUnsent(job);
}

// ---- AgentListener ----

AgentHub::Agent* AgentHub::AgentOf(SessionId session) {
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return nullptr;
  Agent& agent = agents_[it->second];
  return agent.session == session ? &agent : nullptr;
}

// Returns the hash of the machine's id, because each machine has its own clock. `| 1` avoids 0, which stands for
// this machine.
uint64_t AgentHub::SenderOf(const pb::Hello& hello) const {
  if (hello.machine().empty() || hello.machine() == options_.own_machine) return 0;
  return std::hash<std::string>()(hello.machine()) | 1;
}

SessionId AgentHub::Attend(SessionId session, const pb::Hello& hello) {
  Agent& agent = agents_[hello.agent()];
  const SessionId old = std::exchange(agent.session, session);
  agent.name = hello.agent();
  agent.hello = hello;
  agent.connected_s = agent.heard_s = options_.steady_s();
  agent.heard_at_s = options_.now().seconds();
  agent.remembered = false;
  // A new queue starts its sequences anew: the last sequence of the old queue is meaningless for the new queue.
  if (agent.queue != hello.queue()) {
    agent.queue = hello.queue();
    agent.taken = agent.part_of = 0;
    agent.unacknowledged.Clear();
  }
  agent.to_replay = hello.queued();
  sessions_[session] = hello.agent();
  agents_by_task_.Connect(agent.name, session);
  return old;
}

void AgentHub::OnConnect(SessionId session, const pb::FromAgent& message, const std::string& who) {
  const pb::Hello& hello = message.hello();
  SessionId old = 0;
  bool replays = false;
  bool refused = false;
  {
    const std::lock_guard lock(mutex_);
    std::string why_not = WhyNot(hello, who);
    refused = !why_not.empty();
    if (refused) NoteRefused(hello, std::move(why_not));
    if (!refused) old = Attend(session, hello);
  }
  if (refused) return Close(session);
  replays = hello.queued() > 0;
  // Hold windows at once: the present tick must not close windows whose data is about to arrive.
  if (replays) intake_->HoldWindows(true);
  // Each agent has one stream: the newer stream is kept.
  if (old != 0) Close(old);
}

void AgentHub::OnDisconnect(SessionId session) {
  const std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;
  Agent& agent = agents_[it->second];
  if (agent.session == session) {
    Leave(agent);
  } else {
    sessions_.erase(it);
  }
}

void AgentHub::Leave(Agent& agent) {
  sessions_.erase(agent.session);
  agent.session = 0;
  agents_by_task_.Disconnect(agent.name, options_.steady_s());
}

std::optional<AgentHub::Place> AgentHub::Receive(Agent& agent, SessionId session, uint64_t sequence) {
  // A message of the old stream that was still being processed must not be counted for the new stream.
  const std::lock_guard lock(mutex_);
  if (agent.session != session) return std::nullopt;  // the agent has a newer stream
  agent.heard_s = options_.steady_s();
  agent.heard_at_s = options_.now().seconds();
  if (sequence == 0) return Place{agent.queue, tick_ + 1};
  if (agent.to_replay > 0) --agent.to_replay;
  if (sequence > agent.taken) return Place{agent.queue, tick_ + 1};
  // This message was resent: the acknowledgement is under way or was lost. If no message waits for an
  // acknowledgement, acknowledge the message again.
  ++counts_.repeats;
  if (agent.unacknowledged.empty()) agent.unacknowledged.Add(agent.taken, std::nullopt, 0);
  return std::nullopt;
}

void AgentHub::OnMessage(SessionId session, const pb::FromAgent& message) {
  Agent* agent = nullptr;
  {
    const std::lock_guard lock(mutex_);
    agent = AgentOf(session);
  }
  if (agent == nullptr) return;
  const uint64_t sequence = message.sequence();
  // Hold this lock until the message is counted, so that two streams of one agent cannot both process the message.
  const std::lock_guard taking(agent->taking);
  const std::optional<Place> place = Receive(*agent, session, sequence);
  if (!place.has_value()) return;
  if (message.now_us() > 0) intake_->SeeTime(Timestamp{message.now_us()});
  bool taken = true;
  std::optional<WindowId> window;
  if (message.has_tasks()) TakeTasks(session, message.tasks());
  if (message.has_oom()) taken = TakeOom(*agent, message.oom());
  if (message.has_tier_act()) taken = TakeTierAct(*agent, message.tier_act());
  if (message.has_windows()) {
    bool dropped = false;
    taken = TakeWindows(*agent, sequence, message.windows(), dropped);
    if (!dropped) window = WindowId{message.windows().window()};
  }
  if (taken) return Count(*agent, message, *place, window);
  // The agent keeps this message and resends it on its next stream, with all later messages. The hub must not
  // acknowledge a later message before this message.
  {
    const std::lock_guard lock(mutex_);
    if (agent->session == session) Leave(*agent);
  }
  Close(session);
}

// Counts a processed message, even if its stream has ended meanwhile.
void AgentHub::Count(Agent& agent, const pb::FromAgent& message, const Place& place,
                     std::optional<WindowId> window) {
  const std::lock_guard lock(mutex_);
  for (const pb::Outcome& o : message.outcomes().outcomes()) TakeOutcome(agent, o);
  if (message.has_heartbeat()) agent.heartbeat = message.heartbeat();
  if (message.has_oom()) {
    ++agent.ooms;
    ++counts_.ooms;
  }
  if (message.has_windows()) {
    ++agent.windows;
    ++counts_.windows;
    counts_.task_windows += static_cast<uint64_t>(message.windows().tasks_size());
    NoteNeeded(agent, message.windows());
  }
  // The agent may have reconnected with a new queue meanwhile: this sequence belongs to the old queue.
  if (message.sequence() == 0 || agent.queue != place.queue) return;
  agent.taken = message.sequence();
  // The present tick may have collected kills before this kill arrived: wait for the next tick.
  const uint64_t tick = message.has_oom() || message.has_tier_act() ? tick_ + 1 : place.tick;
  agent.unacknowledged.Add(message.sequence(), window, tick);
}

// An invalid message stays invalid when it is resent: acknowledge and drop it.
void AgentHub::OnRefused(SessionId session, uint64_t sequence, const absl::Status& why) {
  (void)why;
  const std::lock_guard lock(mutex_);
  ++counts_.refused;
  Agent* agent = AgentOf(session);
  if (agent == nullptr || sequence == 0) return;
  if (agent->to_replay > 0) --agent->to_replay;
  if (sequence <= agent->taken) return;
  agent->taken = sequence;
  agent->unacknowledged.Add(sequence, std::nullopt, 0);
}

bool AgentHub::TakeOom(Agent& agent, const pb::Oom& oom) {
  bool believed = false;
  {
    const std::lock_guard lock(mutex_);
    believed =
        FitsMachine(oom, agent.hello) &&
        agents_by_task_.MayReport(agent.name, {oom.name().job(), oom.name().task()}, options_.steady_s());
  }
  if (!believed) {
    CountUnbelieved(agent);
    return true;
  }
  const std::vector<LabelView> labels = LabelsOf(oom.labels());
  return intake_
      ->TakeOom({oom.name().job(), oom.name().task(), labels}, Timestamp{oom.time_us()},
                std::max<uint64_t>(oom.kills(), 1),
                oom.has_limit_bytes() ? std::optional(oom.limit_bytes()) : std::nullopt, options_.now())
      .ok();
}

bool AgentHub::TakeTierAct(Agent& agent, const pb::TierAct& act) {
  bool believed = false;
  {
    const std::lock_guard lock(mutex_);
    believed =
        FitsMachine(act, agent.hello) &&
        agents_by_task_.MayReport(agent.name, {act.name().job(), act.name().task()}, options_.steady_s());
  }
  const std::optional<Tier> tier = ParseTier(act.tier());
  if (!believed || !tier.has_value()) {
    CountUnbelieved(agent);
    return true;
  }
  const auto maybe = [](bool has, double value) { return has ? std::optional(value) : std::nullopt; };
  return intake_
      ->TakeTierAct({.time_s = Timestamp{act.time_us()}.seconds(),
                     .at_us = act.time_us(),
                     .machine = agent.name,
                     .job = act.name().job(),
                     .task = act.name().task(),
                     .tier = *tier,
                     .kind = static_cast<TierActKind>(act.kind()),
                     .observed = act.observed(),
                     .usage = maybe(act.has_usage_bytes(), act.usage_bytes()),
                     .request = maybe(act.has_request_bytes(), act.request_bytes()),
                     .high = maybe(act.has_high_bytes(), act.high_bytes()),
                     .free = maybe(act.has_free_bytes(), act.free_bytes()),
                     .total = maybe(act.has_total_bytes(), act.total_bytes()),
                     .some = maybe(act.has_pressure_some(), act.pressure_some()),
                     .full = maybe(act.has_pressure_full(), act.pressure_full()),
                     .text = act.text()})
      .ok();
}

bool AgentHub::TakeWindows(Agent& agent, uint64_t sequence, const pb::Windows& windows, bool& dropped) {
  // Continue a partly processed message at its first unprocessed task, because no task may be counted twice.
  const bool goes_on = sequence != 0 && agent.part_of == sequence;
  dropped = !goes_on;
  const uint64_t sender = SenderOf(agent.hello);
  for (int i = goes_on ? agent.parts : 0; i < windows.tasks_size(); ++i) {
    const pb::TaskWindow& t = windows.tasks(i);
    bool believed = false, managed = false;
    {
      const std::lock_guard lock(mutex_);
      believed =
          FitsMachine(t, agent.hello) &&
          agents_by_task_.MayReport(agent.name, {t.name().job(), t.name().task()}, options_.steady_s());
      managed = Applies(t.name().job()) && agents_by_task_.IsManaged({t.name().job(), t.name().task()});
    }
    if (!believed) {
      CountUnbelieved(agent);
      continue;
    }
    const std::vector<LabelView> labels = LabelsOf(t.labels());
    const absl::Status s = intake_->TakeWindow({t.name().job(), t.name().task(), labels, {}, sender},
                                               WindowOf(windows.window(), t, managed), options_.now());
    // The intake has no room at present: keep the position and let the agent resend the message.
    if (s.code() == absl::StatusCode::kUnavailable) {
      const std::lock_guard lock(mutex_);
      agent.part_of = sequence;
      agent.parts = i;
      return false;
    }
    dropped &= !s.ok();
    if (s.ok()) continue;
    const std::lock_guard lock(mutex_);
    ++counts_.refused;
  }
  return true;
}

void AgentHub::TakeTasks(SessionId session, const pb::Tasks& tasks) {
  // One element per started task: false if the task belongs to another agent. The container of such a task must
  // not be renamed.
  std::vector<bool> believed;
  {
    const std::lock_guard lock(mutex_);
    const Agent* agent = AgentOf(session);
    if (agent == nullptr) return;
    for (const pb::Task& t : tasks.started())
      believed.push_back(
          agents_by_task_.MayReport(agent->name, {t.name().job(), t.name().task()}, options_.steady_s()));
  }
  std::vector<std::optional<TaskRef>> refs;
  for (int i = 0; i < tasks.started_size(); ++i) {
    const pb::Task& t = tasks.started(i);
    const std::vector<LabelView> labels = LabelsOf(t.labels());
    const std::string container = believed[static_cast<size_t>(i)] ? t.container_id() : std::string();
    refs.push_back(intake_->Announce({t.name().job(), t.name().task(), labels, container}, options_.now()));
  }
  const std::lock_guard lock(mutex_);
  // The stream may have been replaced while the intake was called without the lock.
  Agent* agent = AgentOf(session);
  if (agent == nullptr) return;
  std::set<AgentTable::Name> gone;
  if (tasks.all()) {
    gone = agents_by_task_.TasksOfAgent(agent->name);
    for (const pb::Task& t : tasks.started()) gone.erase({t.name().job(), t.name().task()});
  }
  for (const pb::TaskName& name : tasks.gone()) gone.emplace(name.job(), name.task());
  // A task that is gone will report no outcome, so its order must not wait for the task.
  for (const auto& [job, task] : gone) {
    if (agents_by_task_.Drop(agent->name, {job, task})) orders_by_task_.DropTask(job, task);
  }
  for (int i = 0; i < tasks.started_size(); ++i) {
    const pb::Task& t = tasks.started(i);
    const std::optional<TaskRef>& ref = refs[static_cast<size_t>(i)];
    if (!ref.has_value()) {
      ++counts_.refused;
    } else if (!agents_by_task_.Announce({t.name().job(), t.name().task()},
                                         {agent->name, session, *ref, t.managed()}, options_.steady_s())) {
      ++agent->not_believed;
      ++counts_.not_believed;
    }
  }
}

// ---- data for front ends ----

AgentList AgentHub::Agents() const {
  const std::lock_guard lock(mutex_);
  AgentList out{.known = {}, .refused = {refused_agents_.begin(), refused_agents_.end()}};
  const double now = options_.steady_s();
  for (const auto& [name, agent] : agents_) {
    AgentView& v = out.known.emplace_back();
    v.name = name;
    v.host = agent.hello.host();
    v.version = agent.hello.version();
    v.hands = agent.hello.hands();
    v.connected = agent.session != 0;
    v.observes = agent.hello.observe();
    v.cores = agent.hello.cores();
    v.memory_bytes = agent.hello.memory_bytes();
    const std::set<AgentTable::Name>& tasks = agents_by_task_.TasksOfAgent(name);
    v.tasks = static_cast<uint32_t>(tasks.size());
    for (const AgentTable::Name& task : tasks) v.managed_tasks += agents_by_task_.IsManaged(task) ? 1 : 0;
    v.heard_s = agent.remembered
                    ? static_cast<double>(std::max<int64_t>(0, options_.now().seconds() - agent.heard_at_s))
                    : now - agent.heard_s;
    v.heard_at_s = agent.heard_at_s;
    v.not_believed = agent.not_believed;
    v.failures.assign(agent.failures.begin(), agent.failures.end());
    v.queued_bytes = agent.heartbeat.queued_bytes();
    v.dropped = agent.heartbeat.dropped();
    v.cpu_share = agent.heartbeat.cpu_share();
    v.resident_bytes = agent.heartbeat.resident_bytes();
    v.windows = agent.windows;
    v.ooms = agent.ooms;
    v.applied = agent.applied;
    v.failed = agent.failed;
  }
  return out;
}

AgentHubCounts AgentHub::counts() const {
  const std::lock_guard lock(mutex_);
  AgentHubCounts counts = counts_;
  counts.agents = agents_.size();
  for (const auto& [name, agent] : agents_) {
    counts.connected += agent.session != 0 ? 1 : 0;
    counts.tasks += agents_by_task_.TasksOfAgent(name).size();
    counts.unacknowledged += agent.unacknowledged.size();
  }
  counts.slowest_order_ms = orders_by_task_.slowest_ms();
  counts.mean_order_ms = orders_by_task_.mean_ms();
  return counts;
}

}  // namespace taut::server
