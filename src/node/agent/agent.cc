// Measures the tasks, and reports to the daemon.
#include "node/agent/agent.h"

#include <algorithm>

#include "common/base/strings.h"
#include "node/agent/messages.h"
#include "node/agent/task_meter.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;

constexpr int64_t kSecond = kMicrosPerSecond;
constexpr uint64_t kCompareEvery = 3;  // full readings between two comparisons of the limits

constexpr uint32_t kReadable = 1;  // EPOLLIN

}  // namespace

Agent::Agent(AgentOptions options, const Parts& parts)
    : options_(std::move(options)),
      parts_(parts),
      guard_(options_.tiers.guard),
      looked_(parts.finders.size()) {
  if (parts_.memory != nullptr && options_.tiers.guards()) {
    parts_.memory->Watch(guard_.WatchedThresholds());
  }
  if (parts_.watch == nullptr) return;
  if (parts_.memory != nullptr && options_.tiers.guards() && parts_.memory->wakeup_fd() >= 0) {
    parts_.watch->Add({parts_.memory->wakeup_fd(), kReadable}, kMemoryKey);
  }
  for (size_t i = 0; i < parts_.finders.size(); ++i) {
    const Wakeup wakeup = parts_.finders[i]->wakeup();
    if (wakeup.fd >= 0) parts_.watch->Add(wakeup, kFinderKeys + i);
  }
}

Agent::~Agent() {
  if (parts_.watch == nullptr) return;
  if (parts_.memory != nullptr && options_.tiers.guards() && parts_.memory->wakeup_fd() >= 0) {
    parts_.watch->Remove(parts_.memory->wakeup_fd());
  }
  for (const auto& [id, task] : tasks_) {
    if (task->group->oom_wakeup().fd >= 0) parts_.watch->Remove(task->group->oom_wakeup().fd);
  }
}

// ---- measuring ----

void Agent::Sample(const NodeTime& now) {
  ++sample_;
  // Look may remove a task, which would invalidate an iterator: iterate over a copy of the ids.
  std::vector<uint64_t> ids;
  ids.reserve(tasks_.size());
  for (const auto& [id, task] : tasks_) ids.push_back(id);
  std::vector<uint64_t> to_score;
  for (const uint64_t id : ids) {
    const auto it = tasks_.find(id);
    if (it == tasks_.end()) continue;
    // Spread the full readings over the samples by task id, so that no sample reads all files of all tasks.
    const auto every = static_cast<uint64_t>(options_.all_every);
    const bool all = (sample_ + id) % every == 0;
    const bool deep = all || IsProbeRead(*it->second, now) || it->second->throttle.has_value();
    Look(*it->second, deep ? ReadDepth::kAll : ReadDepth::kUsage, now);
    if (all && (sample_ + id) / every % kCompareEvery == 0 && tasks_.contains(id)) {
      CompareLimits(*tasks_.at(id), now);
      SetByTier(*tasks_.at(id), true);
    }
    if (all && tasks_.contains(id)) to_score.push_back(id);
  }
  if (const std::set<std::string_view> paths = GroupPaths(); !to_score.empty()) {
    for (const uint64_t id : to_score) ScoreProcesses(*tasks_.at(id), paths);
  }
  std::vector<AgentTask*> moving;
  std::vector<NodeWindow> closed;
  for (const auto& [id, task] : tasks_) {
    closed.clear();
    task->meter.CloseUntil(now.at, closed);
    PutNeeded(*task, closed);
    for (NodeWindow& w : closed) windows_[w.window].emplace_back(id, std::move(w));
    CheckThrottleControl(*task, now);
    for (LimitLane& lane : task->lanes) {
      lane.NotAfter(now.at.seconds());
      if (lane.mover.target().has_value() && (moving.empty() || moving.back() != task.get())) {
        moving.push_back(task.get());
      }
    }
  }
  SendWindows(now);
  measured_ = now.at;
  for (const auto& [id, task] : tasks_) {
    // A reading too soon after the previous one does not close a window that has ended. measured_ must stay before
    // the end of this window, because the daemon expects no window that ended before measured_.
    const std::optional<WindowId> open = task->meter.oldest_open();
    if (open.has_value()) measured_ = std::min(measured_, Timestamp{EndOf(*open).us - 1});
  }
  // Send the windows first: their limit fields describe the limits before this sample's moves.
  Move(moving, now);
  guarded_us_ = now.steady_us;
  if (const std::optional<MemoryNow> memory = ReadMemory(); memory.has_value()) GuardMemory(*memory, now);
  ProbeMemory(now);
  SaveLedger();
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
  task.usage = task.meter.memory_bytes();
  counts_.jumps += task.meter.counts().jumps - jumps;
  task.NotePeak(task.meter.memory_bytes(), now.steady_us,
                static_cast<int64_t>(static_cast<double>(30 * kSecond) / options_.speed));
  CheckGrowth(task, now);
  if (depth != ReadDepth::kAll) return;
  task.kernel_peak = reading.memory_peak_bytes;
  // Only a full reading contains the counters of kills and throttling.
  task.probe_read.stall_us = reading.memory_pressure.some_us;
  task.probe_read.usage.reset();
  if (reading.memory_bytes.has_value()) task.probe_read.usage = static_cast<double>(*reading.memory_bytes);
  task.probe_read.at_us = now.steady_us;
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
  // Send the windows for which only ended tasks have data.
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
  const std::set<std::string_view> paths = GroupPaths();
  std::vector<AgentTask*> steered;
  for (const auto& [id, task] : tasks_) {
    if (task->of(Resource::kCpu).mover.steered.has_value()) steered.push_back(task.get());
    EndThrottleControl(*task);
  }
  Move(steered, now);
  // End guard and probe before SetByTier, which skips a task whose memory.high the guard or a probe owns.
  for (const auto& [id, task] : tasks_) {
    EndThrottle(*task, FiguresOf(*task), "tautlet stops", now);
    EndProbe(*task, "tautlet stops");
    SetByTier(*task, false);
    ReleaseScoresOf(*task, paths);
  }
  SaveLedger();  // saves the ends of the acts
  for (const auto& [id, task] : tasks_) {
    std::vector<NodeWindow> open;
    task->meter.CloseAll(open);
    PutNeeded(*task, open);
    for (NodeWindow& w : open) windows_[w.window].emplace_back(id, std::move(w));
  }
  // SendWindows skips windows of ended tasks that are neither in windows_ nor older than the open window, so add
  // these windows here.
  for (const auto& [window, tasks] : of_departed_) windows_.try_emplace(window);
  SendWindows(now);
}

// ---- reports ----

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
    for (const auto& [name, message] : gone_) *out.add_gone() = message;
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
  SendOutcomes();
}

void Agent::SendOutcomes() {
  if (outcomes_.outcomes_size() == 0) return;
  pb::FromAgent message;
  message.mutable_outcomes()->Swap(&outcomes_);
  Send(std::move(message), Keep::kNo);
}

void Agent::Send(pb::FromAgent message, Keep keep) {
  // Every message carries the measured time, so the daemon's clock for this agent never passes unsent
  // windows.
  message.set_now_us(measured_.us);
  parts_.uplink->Send(std::move(message), keep);
}

}  // namespace taut::node
