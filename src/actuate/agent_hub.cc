#include "actuate/agent_hub.h"

#include <algorithm>

#include "base/strings.h"
#include "model/units.h"

namespace taut {
namespace {

namespace pb = taut::agent::v1;

// A window that was dropped, as one from the far future is, will never be stored: after so many ticks that
// went well it is let go.
constexpr uint64_t kPatience = 20'000;
constexpr size_t kTimedOrders = 1000;
constexpr size_t kOrdersRemembered = 100'000;

pb::Resource ProtoOf(Resource r) { return r == Resource::kCpu ? pb::CPU : pb::MEMORY; }

std::vector<LabelView> LabelsOf(const google::protobuf::Map<std::string, std::string>& labels) {
  std::vector<LabelView> out;
  for (const auto& label : labels) out.push_back({label.first, label.second});
  std::sort(out.begin(), out.end(), [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
  return out;
}

float OrAbsent(bool has, float value) { return has ? value : kAbsent; }

ReportedWindow WindowOf(int32_t window, const pb::TaskWindow& t) {
  ReportedWindow out;
  out.window = {window};
  out.figures.cpu_mean_cores = OrAbsent(t.has_cpu_mean_cores(), t.cpu_mean_cores());
  out.figures.cpu_peak_cores = OrAbsent(t.has_cpu_peak_cores(), t.cpu_peak_cores());
  out.figures.memory_mean_bytes = OrAbsent(t.has_memory_mean_bytes(), t.memory_mean_bytes());
  out.figures.memory_peak_bytes = OrAbsent(t.has_memory_peak_bytes(), t.memory_peak_bytes());
  out.cpu_limit_cores = OrAbsent(t.has_owner_cpu_cores(), t.owner_cpu_cores());
  out.memory_limit_bytes = OrAbsent(t.has_owner_memory_bytes(), t.owner_memory_bytes());
  const int n = std::min(t.cpu_buckets_size(), t.cpu_seconds_size());
  out.cpu_buckets.reserve(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    out.cpu_buckets.push_back(
        {static_cast<Bucket>(std::min<uint32_t>(t.cpu_buckets(i), Grid::kMaxBuckets)), t.cpu_seconds(i)});
  }
  return out;
}

// "2 of 5 tasks: host/a: text", with the first of them.
std::string SomeOf(const std::map<std::string, std::string>& texts, size_t tasks) {
  const auto& first = *texts.begin();
  const std::string of = tasks == 1 ? "" : StrCat(texts.size(), " of ", tasks, " tasks: ");
  return StrCat(of, first.first, first.second.empty() ? "" : ": ", first.second);
}

}  // namespace

void AgentHub::SetControl(ControlPlane* control) {
  const std::lock_guard lock(mutex_);
  control_ = control;
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
    // After a stop agents come back within seconds and bring what they kept.
    hold = control_->stored_through().has_value() && now < started_s_ + options_.hold_s / 2;
    for (const auto& [name, agent] : agents_) {
      hold |= agent.session != 0 && agent.to_replay > 0 && now < agent.connected_s + options_.hold_s;
    }
  }
  control_->HoldWindows(hold);
}

void AgentHub::EndTick(bool ok) {
  const std::optional<WindowId> stored = control_->stored_through();
  std::vector<std::pair<SessionId, uint64_t>> acks;
  {
    const std::lock_guard lock(mutex_);
    if (ok) good_tick_ = tick_;
    for (auto& [name, agent] : agents_) {
      uint64_t safe = 0;
      while (!agent.kept.empty()) {
        const Kept& k = agent.kept.front();
        const bool is_stored = k.window.has_value() && stored.has_value() && *k.window <= *stored;
        const bool is_safe = is_stored || k.tick + (k.window.has_value() ? kPatience : 0) <= good_tick_;
        if (!is_safe) break;
        safe = k.sequence;
        agent.kept.pop_front();
      }
      if (safe != 0 && agent.session != 0) acks.emplace_back(agent.session, safe);
    }
  }
  for (const auto& [session, sequence] : acks) {
    pb::ToAgent message;
    message.mutable_ack()->set_sequence(sequence);
    Send(session, std::move(message));
  }
  SendStanding();
}

void AgentHub::OnSettings(const std::string& job) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, tasks] : jobs_) {
    if (!job.empty() && name != job) continue;
    for (const auto& [task, state] : tasks) untold_.emplace(name, task);
  }
}

// What holds for tasks that came, or whose job's settings changed.
void AgentHub::SendStanding() {
  struct Told {
    std::string job, task;
    SessionId session;
    TaskRef ref;
    bool managed;
    uint64_t decisions[2];
  };
  std::vector<Told> due;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [job, task] : untold_) {
      const auto its_job = jobs_.find(job);
      if (its_job == jobs_.end()) continue;
      const auto it = its_job->second.find(task);
      if (it == its_job->second.end() || it->second.session == 0) continue;
      Told told{job, task, it->second.session, it->second.ref, it->second.managed, {0, 0}};
      for (const Resource r : kResources) {
        const auto newest = newest_order_.find({job, r});
        if (newest != newest_order_.end()) told.decisions[static_cast<size_t>(r)] = newest->second;
      }
      due.push_back(std::move(told));
    }
  }
  if (due.empty()) return;
  std::map<SessionId, pb::ToAgent> messages;
  std::set<std::pair<std::string, std::string>> done;
  for (const Told& told : due) {
    const std::optional<StandingTerms> standing = control_->Standing(told.ref);
    if (!standing.has_value()) continue;  // with the next tick
    done.emplace(told.job, told.task);
    pb::Orders& orders = *messages[told.session].mutable_orders();
    const bool apply = options_.apply && (standing->mode == Mode::kAuto || standing->mode == Mode::kCanary);
    pb::Terms* terms = orders.add_terms();
    terms->set_job(told.job);
    terms->set_apply(apply);
    if (standing->upper[0].has_value()) terms->set_cpu_upper_cores(*standing->upper[0]);
    if (standing->upper[1].has_value()) terms->set_memory_upper_bytes(*standing->upper[1]);
    for (const Resource r : kResources) {
      const auto i = static_cast<size_t>(r);
      if (!options_.apply || !told.managed || !standing->in_force[i].has_value()) continue;
      pb::Order* order = orders.add_orders();
      order->set_decision(told.decisions[i]);
      order->mutable_name()->set_job(told.job);
      order->mutable_name()->set_task(told.task);
      order->set_resource(ProtoOf(r));
      order->set_limit(*standing->in_force[i]);
    }
  }
  for (auto& [session, message] : messages) Send(session, std::move(message));
  const std::lock_guard lock(mutex_);
  for (const auto& task : done) untold_.erase(task);
}

// ---- Actuator ----

void AgentHub::Apply(std::span<const LimitOrder> orders, int64_t now_s) {
  std::map<SessionId, pb::ToAgent> messages;
  const std::lock_guard lock(mutex_);
  const double now = options_.steady_s();
  for (const LimitOrder& o : orders) {
    Order order;
    order.order = o;
    order.sent_s = now;
    uint64_t& newest = newest_order_[{o.job, o.resource}];
    if (const auto old = orders_.find(newest); old != orders_.end()) {
      Tell(old->second, Outcome::kSuperseded, StrCat("decision ", o.decision, " came"));
      orders_.erase(old);
    }
    newest = o.decision;
    const auto job = jobs_.find(o.job);
    bool away = false, known = false;
    for (auto& [name, task] : job == jobs_.end() ? std::map<std::string, Task>() : job->second) {
      const bool wanted =
          o.tasks.empty() || std::find(o.tasks.begin(), o.tasks.end(), task.ref.task) != o.tasks.end();
      if (!wanted) continue;
      known = true;
      away |= task.session == 0;
      if (!task.managed || !options_.apply) continue;
      ++order.tasks;
      order.waiting.insert(name);
      if (task.session == 0) continue;
      pb::Order* out = messages[task.session].mutable_orders()->add_orders();
      out->set_decision(o.decision);
      out->mutable_name()->set_job(o.job);
      out->mutable_name()->set_task(name);
      out->set_resource(ProtoOf(o.resource));
      if (o.limit.has_value()) out->set_limit(*o.limit);
      out->set_decided_s(now_s);
      ++counts_.orders;
    }
    if (order.tasks == 0) {
      Tell(order, Outcome::kDryRun,
           !known           ? "no agent has this job"
           : options_.apply ? "its agents were told to leave it alone (manage: false)"
                            : "the daemon applies nothing (actuator.kind: dry_run)");
      continue;
    }
    if (away) Tell(order, Outcome::kPending, "an agent is away; it is told when it comes back");
    if (orders_.size() >= kOrdersRemembered) orders_.erase(orders_.begin());
    orders_.insert_or_assign(o.decision, std::move(order));
  }
  for (auto& [session, message] : messages) Send(session, std::move(message));
}

std::vector<OutcomeUpdate> AgentHub::TakeOutcomes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

void AgentHub::Tell(Order& order, Outcome outcome, std::string text) {
  std::string said = StrCat(Name(outcome), " ", text);
  if (said == order.said) return;
  order.said = std::move(said);
  outcomes_.push_back({order.order.decision, outcome, std::move(text), 0});
}

void AgentHub::Judge(Order& order) {
  if (!order.bad.empty()) {
    Tell(order, Outcome::kFailed, SomeOf(order.bad, order.tasks));
  } else if (!order.held.empty()) {
    Tell(order, Outcome::kPending, SomeOf(order.held, order.tasks));
  } else if (!order.waiting.empty()) {
    return;
  } else if (order.observed > 0 && order.applied == 0) {
    Tell(order, Outcome::kDryRun, "the agent observes (--observe)");
  } else {
    Tell(order, Outcome::kApplied,
         order.tasks == 1 ? "" : StrCat("on ", order.applied, " of ", order.tasks, " tasks"));
  }
}

void AgentHub::TakeOutcome(Agent& agent, const pb::Outcome& outcome) {
  using Result = pb::Outcome;
  const bool failed = outcome.result() == Result::FAILED;
  const bool applied = outcome.result() == Result::APPLIED;
  agent.applied += applied ? 1 : 0;
  agent.failed += failed ? 1 : 0;
  counts_.applied += applied ? 1 : 0;
  counts_.failed += failed ? 1 : 0;
  const auto it = orders_.find(outcome.decision());
  if (it == orders_.end()) return;
  Order& order = it->second;
  const std::string& task = outcome.name().task();
  const bool first = order.waiting.erase(task) > 0;
  if (first) {
    order_ms_.push_back((options_.steady_s() - order.sent_s) * 1000);
    if (order_ms_.size() > kTimedOrders) order_ms_.pop_front();
  }
  const bool was_under_way = order.held.erase(task) + order.bad.erase(task) > 0;
  if (failed) {
    order.bad[task] = outcome.text();
  } else if (outcome.result() == Result::STEPPING || outcome.result() == Result::HELD) {
    order.held[task] = outcome.text();
  } else if (first || was_under_way) {
    ++(applied ? order.applied : order.observed);
  }
  Judge(order);
}

// ---- AgentListener ----

AgentHub::Agent* AgentHub::AgentOf(SessionId session) {
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return nullptr;
  Agent& agent = agents_[it->second];
  return agent.session == session ? &agent : nullptr;
}

void AgentHub::OnConnect(SessionId session, const pb::FromAgent& message, const std::string& who) {
  (void)who;
  const pb::Hello& hello = message.hello();
  SessionId old = 0;
  bool replays = false;
  {
    const std::lock_guard lock(mutex_);
    Agent& agent = agents_[hello.agent()];
    old = std::exchange(agent.session, session);
    agent.name = hello.agent();
    agent.hello = hello;
    agent.connected_s = agent.heard_s = options_.steady_s();
    if (agent.queue != hello.queue()) {
      agent.queue = hello.queue();
      agent.taken = 0;
      agent.kept.clear();
    }
    agent.to_replay = hello.queued();
    replays = hello.queued() > 0;
    sessions_[session] = hello.agent();
  }
  // At once: the tick that is under way must not close what is about to come.
  if (replays) control_->HoldWindows(true);
  // One stream an agent: the newer wins.
  if (old != 0) Close(old);
}

void AgentHub::OnDisconnect(SessionId session) {
  const std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;
  Agent& agent = agents_[it->second];
  sessions_.erase(it);
  if (agent.session != session) return;
  agent.session = 0;
  for (const auto& [job, task] : agent.tasks) jobs_[job][task].session = 0;
}

void AgentHub::OnMessage(SessionId session, const pb::FromAgent& message) {
  const uint64_t sequence = message.sequence();
  uint64_t tick = 0;
  {
    const std::lock_guard lock(mutex_);
    Agent* agent = AgentOf(session);
    if (agent == nullptr) return;
    agent->heard_s = options_.steady_s();
    tick = tick_ + 1;
    if (sequence != 0) {
      if (agent->to_replay > 0) --agent->to_replay;
      if (sequence <= agent->taken) {  // it comes a second time; its acknowledgement is on its way
        ++counts_.repeats;
        if (agent->kept.empty()) agent->kept.push_back({sequence, std::nullopt, 0});
        return;
      }
    }
  }
  if (message.now_us() > 0) control_->SeeTime(Timestamp{message.now_us()});
  bool taken = true;
  std::optional<WindowId> window;
  switch (message.body_case()) {
    case pb::FromAgent::kTasks:
      taken = TakeTasks(session, message.tasks());
      break;
    case pb::FromAgent::kWindows:
      window = WindowId{message.windows().window()};
      taken = TakeWindows(message.windows());
      break;
    case pb::FromAgent::kOom: {
      const pb::Oom& oom = message.oom();
      const std::vector<LabelView> labels = LabelsOf(oom.labels());
      taken = control_
                  ->TakeOom({oom.name().job(), oom.name().task(), labels}, Timestamp{oom.time_us()},
                            std::max<uint64_t>(oom.kills(), 1),
                            oom.has_limit_bytes() ? std::optional(oom.limit_bytes()) : std::nullopt,
                            options_.now())
                  .ok();
      break;
    }
    default:
      break;
  }
  const std::lock_guard lock(mutex_);
  Agent* agent = AgentOf(session);
  if (agent == nullptr) return;
  if (!taken) {  // it keeps the message and brings it with its next stream
    Close(session);
    return;
  }
  if (message.has_outcomes()) {
    for (const pb::Outcome& o : message.outcomes().outcomes()) TakeOutcome(*agent, o);
  }
  if (message.has_heartbeat()) agent->heartbeat = message.heartbeat();
  if (message.has_oom()) {
    const uint64_t kills = std::max<uint64_t>(message.oom().kills(), 1);
    agent->ooms += kills;
    counts_.ooms += kills;
  }
  if (message.has_windows()) {
    ++agent->windows;
    ++counts_.windows;
    counts_.task_windows += static_cast<uint64_t>(message.windows().tasks_size());
  }
  if (sequence == 0) return;
  agent->taken = sequence;
  agent->kept.push_back({sequence, window, tick});
}

// What cannot be understood will not be understood the next time: it is let go.
void AgentHub::OnRefused(SessionId session, uint64_t sequence, const absl::Status& why) {
  (void)why;
  const std::lock_guard lock(mutex_);
  ++counts_.refused;
  Agent* agent = AgentOf(session);
  if (agent == nullptr || sequence <= agent->taken) return;
  agent->taken = sequence;
  agent->kept.push_back({sequence, std::nullopt, 0});
}

bool AgentHub::TakeWindows(const pb::Windows& windows) {
  for (const pb::TaskWindow& t : windows.tasks()) {
    const std::vector<LabelView> labels = LabelsOf(t.labels());
    const absl::Status s = control_->TakeWindow({t.name().job(), t.name().task(), labels},
                                                WindowOf(windows.window(), t), options_.now());
    if (s.code() == absl::StatusCode::kUnavailable) return false;
    if (s.ok()) continue;
    const std::lock_guard lock(mutex_);
    ++counts_.refused;
  }
  return true;
}

bool AgentHub::TakeTasks(SessionId session, const pb::Tasks& tasks) {
  std::vector<std::optional<TaskRef>> refs;
  for (const pb::Task& t : tasks.started()) {
    const std::vector<LabelView> labels = LabelsOf(t.labels());
    refs.push_back(control_->Announce({t.name().job(), t.name().task(), labels}, options_.now()));
  }
  const std::lock_guard lock(mutex_);
  Agent* agent = AgentOf(session);
  if (agent == nullptr) return true;
  if (tasks.all()) {
    for (const auto& [job, task] : agent->tasks) DropTask(job, task);
    agent->tasks.clear();
  }
  for (const pb::TaskName& gone : tasks.gone()) {
    DropTask(gone.job(), gone.task());
    agent->tasks.erase({gone.job(), gone.task()});
  }
  for (int i = 0; i < tasks.started_size(); ++i) {
    const pb::Task& t = tasks.started(i);
    const std::optional<TaskRef>& ref = refs[static_cast<size_t>(i)];
    if (!ref.has_value()) {
      ++counts_.refused;
      continue;
    }
    jobs_[t.name().job()][t.name().task()] = {agent->name, session, *ref, t.managed()};
    agent->tasks.emplace(t.name().job(), t.name().task());
    untold_.emplace(t.name().job(), t.name().task());
  }
  return true;
}

// A task that is gone has nothing to say of orders any more.
void AgentHub::DropTask(const std::string& job, const std::string& task) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return;
  it->second.erase(task);
  untold_.erase({job, task});
  for (const Resource r : kResources) {
    const auto newest = newest_order_.find({job, r});
    const auto order = newest == newest_order_.end() ? orders_.end() : orders_.find(newest->second);
    if (order == orders_.end()) continue;
    order->second.held.erase(task);
    if (order->second.waiting.erase(task) > 0) Judge(order->second);
  }
  if (it->second.empty()) jobs_.erase(it);
}

// ---- for people ----

std::vector<AgentView> AgentHub::Agents() const {
  const std::lock_guard lock(mutex_);
  std::vector<AgentView> out;
  const double now = options_.steady_s();
  for (const auto& [name, agent] : agents_) {
    AgentView& v = out.emplace_back();
    v.name = name;
    v.host = agent.hello.host();
    v.version = agent.hello.version();
    v.hands = agent.hello.hands();
    v.connected = agent.session != 0;
    v.observes = agent.hello.observe();
    v.cores = agent.hello.cores();
    v.memory_bytes = agent.hello.memory_bytes();
    v.tasks = static_cast<uint32_t>(agent.tasks.size());
    for (const auto& [job, task] : agent.tasks) {
      const auto its_job = jobs_.find(job);
      if (its_job == jobs_.end()) continue;
      const auto it = its_job->second.find(task);
      v.managed_tasks += it != its_job->second.end() && it->second.managed ? 1 : 0;
    }
    v.heard_s = now - agent.heard_s;
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
    counts.tasks += agent.tasks.size();
    counts.unacknowledged += agent.kept.size();
  }
  for (const double ms : order_ms_) {
    counts.slowest_order_ms = std::max(counts.slowest_order_ms, ms);
    counts.mean_order_ms += ms / static_cast<double>(order_ms_.size());
  }
  return counts;
}

}  // namespace taut
