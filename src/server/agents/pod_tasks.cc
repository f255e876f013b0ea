#include "server/agents/pod_tasks.h"

#include <algorithm>

#include "common/base/container_id.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;

bool IsPod(const pb::TaskName& name) { return !PodContainerOf(name).empty(); }

PodTasks::Name NameOf(const pb::TaskName& name) { return {name.job(), name.task()}; }

void SetName(const PodTasks::Name& name, pb::TaskName& out) {
  out.set_job(name.first);
  out.set_task(name.second);
  out.clear_pod_container();
}

bool HasPods(const pb::FromAgent& message) {
  const auto of_pod = [](const auto& item) { return IsPod(item.name()); };
  return std::ranges::any_of(message.tasks().started(), of_pod) ||
         std::ranges::any_of(message.tasks().gone(), IsPod) ||
         std::ranges::any_of(message.windows().tasks(), of_pod) || IsPod(message.oom().name()) ||
         IsPod(message.tier_act().name()) || std::ranges::any_of(message.outcomes().outcomes(), of_pod);
}

// Renames the task to its pod's name, and removes the cgroup's labels and amounts. The pod's labels are better
// than the cgroup's labels. The amounts may be limits that tautd set through the API server; the owner's amounts
// are in the pod's spec.
template <typename Task>
void Own(const PodTasks::Name& name, Task& task) {
  SetName(name, *task.mutable_name());
  task.clear_labels();
  task.clear_owner_cpu_cores();
  task.clear_owner_memory_bytes();
}

}  // namespace

std::string_view PodContainerOf(const pb::TaskName& name) {
  return name.pod_container().empty() ? PodContainerOfOlderAgent(name.job()) : name.pod_container();
}

std::string_view PodContainerOfOlderAgent(std::string_view job) {
  constexpr std::string_view kPrefix = "kubepods/";
  return job.starts_with(kPrefix) ? ContainerIdIn(job) : std::string_view();
}

void PodTasks::SetServer(AgentServer* server) {
  const std::lock_guard lock(mutex_);
  server_ = server;
}

AgentServer* PodTasks::Server() const {
  const std::lock_guard lock(mutex_);
  return server_;
}

std::optional<PodTasks::Name> PodTasks::Find(const pb::TaskName& agents) {
  const std::string id(PodContainerOf(agents));
  std::optional<Name> found = options_.find(id);
  const auto known = known_.find(id);
  // The pod may be gone before its last measurements arrive, so the remembered name is used.
  if (!found.has_value() && known != known_.end()) found = known->second.name;
  if (!found.has_value()) return found;
  // The container's name may have changed, so the old name's job is counted down first.
  if (known != known_.end()) Forget(known);
  ++jobs_[found->first];
  known_.insert_or_assign(id, Known{*found, options_.steady_s()});
  return found;
}

std::map<std::string, PodTasks::Known>::iterator PodTasks::Forget(
    std::map<std::string, Known>::iterator known) {
  if (const auto job = jobs_.find(known->second.name.first); --job->second == 0) jobs_.erase(job);
  return known_.erase(known);
}

bool PodTasks::IsPods(const std::string& job) const {
  const std::lock_guard lock(mutex_);
  return jobs_.contains(job);
}

std::optional<pb::Task> PodTasks::Named(Session& session, const pb::Task& task) {
  const std::optional<Name> name = Find(task.name());
  if (!name.has_value()) return std::nullopt;
  session.of.insert_or_assign(*name, task.name());
  pb::Task out = task;
  Own(*name, out);
  return out;
}

void PodTasks::NameTasks(Session& session, pb::Tasks& tasks) {
  pb::Tasks out;
  out.set_all(tasks.all());
  // A list with `all` replaces all tasks that the agent announced before.
  if (tasks.all()) session = {};
  for (const pb::TaskName& name : tasks.gone()) {
    if (!IsPod(name)) {
      *out.add_gone() = name;
      continue;
    }
    if (session.waiting.erase(NameOf(name)) > 0) continue;
    const auto is_it = [&](const auto& entry) { return NameOf(entry.second) == NameOf(name); };
    const auto it = std::ranges::find_if(session.of, is_it);
    if (it == session.of.end()) continue;  // a container with a new ID already has the name
    SetName(it->first, *out.add_gone());
    session.of.erase(it);
  }
  for (const pb::Task& task : tasks.started()) {
    if (!IsPod(task.name())) {
      *out.add_started() = task;
    } else if (std::optional<pb::Task> named = Named(session, task); named.has_value()) {
      *out.add_started() = *std::move(named);
    } else {
      session.waiting.insert_or_assign(NameOf(task.name()), task);
    }
  }
  tasks = std::move(out);
}

void PodTasks::NameWaiting(Session& session, pb::Tasks& out) {
  for (auto it = session.waiting.begin(); it != session.waiting.end();) {
    std::optional<pb::Task> named = Named(session, it->second);
    if (named.has_value()) *out.add_started() = *std::move(named);
    it = named.has_value() ? session.waiting.erase(it) : std::next(it);
  }
}

void PodTasks::NameOutcomes(pb::Outcomes& outcomes) {
  for (pb::Outcome& outcome : *outcomes.mutable_outcomes()) {
    const std::optional<Name> name = IsPod(outcome.name()) ? Find(outcome.name()) : std::nullopt;
    if (name.has_value()) SetName(*name, *outcome.mutable_name());
  }
}

bool PodTasks::NameKept(pb::FromAgent& message) {
  const bool synced = options_.is_synced();
  if (message.has_oom() && IsPod(message.oom().name())) {
    const std::optional<Name> name = Find(message.oom().name());
    if (!name.has_value() && !synced) return false;
    if (name.has_value()) {
      SetName(*name, *message.mutable_oom()->mutable_name());
      message.mutable_oom()->clear_labels();
    } else {
      message.clear_oom();  // the message keeps its sequence
      ++dropped_;
    }
  }
  if (message.has_tier_act() && IsPod(message.tier_act().name())) {
    const std::optional<Name> name = Find(message.tier_act().name());
    if (!name.has_value() && !synced) return false;
    if (name.has_value()) {
      SetName(*name, *message.mutable_tier_act()->mutable_name());
    } else {
      message.clear_tier_act();  // the message keeps its sequence
      ++dropped_;
    }
  }
  if (!message.has_windows()) return true;
  pb::Windows out;
  out.set_window(message.windows().window());
  for (const pb::TaskWindow& task : message.windows().tasks()) {
    if (!IsPod(task.name())) {
      *out.add_tasks() = task;
      continue;
    }
    const std::optional<Name> name = Find(task.name());
    if (!name.has_value() && !synced) return false;
    if (!name.has_value()) {
      ++dropped_;
      continue;
    }
    pb::TaskWindow& named = *out.add_tasks();
    named = task;
    Own(*name, named);
  }
  *message.mutable_windows() = std::move(out);
  return true;
}

// ---- AgentListener ----

void PodTasks::OnConnect(SessionId session, const pb::FromAgent& hello, const std::string& who) {
  {
    const std::lock_guard lock(mutex_);
    const double before_s = options_.steady_s() - options_.forget_s;
    for (auto it = known_.begin(); it != known_.end();)
      it = it->second.used_s < before_s ? Forget(it) : std::next(it);
  }
  hub_->OnConnect(session, hello, who);
}

void PodTasks::OnMessage(SessionId session, const pb::FromAgent& message) {
  std::unique_lock lock(mutex_);
  if (!HasPods(message) && !sessions_.contains(session)) {
    lock.unlock();
    return hub_->OnMessage(session, message);
  }
  // Once a session has a container of a pod, every message is processed here: a later message may announce that a
  // waiting task is gone.
  Session& of = sessions_[session];
  // After a message that must be resent, no later message may be processed, because the agent resends later
  // messages, too.
  if (of.closing) return;
  pb::FromAgent named = message, late;
  if (message.has_tasks()) NameTasks(of, *named.mutable_tasks());
  if (message.has_outcomes()) NameOutcomes(*named.mutable_outcomes());
  of.closing = !NameKept(named);
  const bool closing = of.closing;
  NameWaiting(of, *late.mutable_tasks());
  late.set_now_us(message.now_us());
  // Call the hub without the lock, because the hub calls Send, which locks mutex_.
  lock.unlock();
  if (closing) return Close(session);
  hub_->OnMessage(session, named);
  // Waiting tasks that only now got a name are announced after this message.
  if (late.tasks().started_size() > 0) hub_->OnMessage(session, late);
}

void PodTasks::OnRefused(SessionId session, uint64_t sequence, const absl::Status& why) {
  hub_->OnRefused(session, sequence, why);
}

void PodTasks::OnDisconnect(SessionId session) {
  {
    const std::lock_guard lock(mutex_);
    sessions_.erase(session);
  }
  hub_->OnDisconnect(session);
}

// ---- AgentServer ----

bool PodTasks::Send(SessionId session, pb::ToAgent message) {
  AgentServer* server = nullptr;
  {
    const std::lock_guard lock(mutex_);
    server = server_;
    const auto it = sessions_.find(session);
    if (it != sessions_.end() && message.has_orders()) {
      const std::map<Name, pb::TaskName>& of = it->second.of;
      for (pb::Order& order : *message.mutable_orders()->mutable_orders()) {
        const auto known = of.find(NameOf(order.name()));
        if (known != of.end()) *order.mutable_name() = known->second;
      }
      // Terms apply to whole jobs. Each container of the pod's job receives a copy under the name that the agent
      // uses.
      pb::Orders named;
      for (const pb::Terms& terms : message.orders().terms()) {
        auto task = of.lower_bound({terms.job(), ""});
        if (task == of.end() || task->first.first != terms.job()) *named.add_terms() = terms;
        for (; task != of.end() && task->first.first == terms.job(); ++task) {
          pb::Terms& one = *named.add_terms();
          one = terms;
          one.set_job(task->second.job());
        }
      }
      *message.mutable_orders()->mutable_terms() = std::move(*named.mutable_terms());
    }
  }
  return server != nullptr && server->Send(session, std::move(message));
}

void PodTasks::Close(SessionId session) {
  if (AgentServer* server = Server(); server != nullptr) server->Close(session);
}

int PodTasks::port() const {
  const AgentServer* server = Server();
  return server == nullptr ? 0 : server->port();
}

AgentServerCounts PodTasks::counts() const {
  const AgentServer* server = Server();
  return server == nullptr ? AgentServerCounts() : server->counts();
}

void PodTasks::Stop() {
  if (AgentServer* server = Server(); server != nullptr) server->Stop();
}

PodTasksCounts PodTasks::pod_counts() const {
  const std::lock_guard lock(mutex_);
  PodTasksCounts out;
  for (const auto& [id, session] : sessions_) out.waiting += session.waiting.size();
  out.dropped = dropped_;
  return out;
}

}  // namespace taut::server
