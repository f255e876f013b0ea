#include "node/agent/in_memory_tasks.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::node {
namespace {

class InMemoryGroup final : public TaskGroup {
 public:
  explicit InMemoryGroup(std::weak_ptr<InMemoryTask> task) : task_(std::move(task)) {}

  absl::Status Read(ReadDepth, TaskReading& out) override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    if (!task) return Gone();
    out = task->reading;
    return absl::OkStatus();
  }
  absl::StatusOr<TaskLimits> ReadLimits() override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    if (!task) return Gone();
    return task->limits;
  }
  absl::Status SetLimit(LimitKind kind, std::optional<double> value) override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    if (!task) return Gone();
    if (!task->set_error.ok()) return task->set_error;
    const bool below = kind == LimitKind::kMemoryMax && value.has_value() &&
                       *value < static_cast<double>(task->reading.memory_bytes.value_or(0));
    if (below && task->refuses_shrink_below_usage) {
      return absl::ResourceExhaustedError("more is in use than the limit asked for");
    }
    if (value.has_value() && *value < Least(kind)) {
      return absl::InvalidArgumentError("below the minimum");
    }
    if (task->around_write) task->around_write();
    task->limits.of(kind) = Rounded(kind, value);
    task->writes.emplace_back(kind, value);
    if (task->around_write) task->around_write();
    return task->lost_answer;
  }
  std::optional<double> Rounded(LimitKind kind, std::optional<double> value) override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    if (task && kind == LimitKind::kCpuWeight && !value.has_value()) return task->weight_of_all;
    if (!task || kind != LimitKind::kCpuMax || !value.has_value()) return value;
    return std::max(*value, task->least_cores);
  }
  bool MayBeReset(LimitKind /*kind*/) const override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    return task && task->may_be_reset;
  }
  double Least(LimitKind kind) const override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    return task && kind == LimitKind::kMemoryMax ? task->least_memory : 0;
  }
  absl::StatusOr<int> Kill() override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    if (!task) return Gone();
    if (!task->kill_error.ok()) return task->kill_error;
    task->reading.memory_bytes = task->reading.memory_working_set_bytes = 0;
    return ++task->kills;
  }
  std::vector<GroupAbove> ReadAbove() override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    return task ? task->above : std::vector<GroupAbove>();
  }
  std::vector<int> Pids(const std::set<std::string_view>&) override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    return task ? task->pids : std::vector<int>();
  }
  std::string_view cgroup_path() const override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    return task ? std::string_view(task->cgroup_path) : std::string_view();
  }
  std::optional<int64_t> started_s() const override {
    const std::shared_ptr<InMemoryTask> task = task_.lock();
    return task ? task->started_s : std::nullopt;
  }

 private:
  static absl::Status Gone() { return absl::NotFoundError("the task is gone"); }
  std::weak_ptr<InMemoryTask> task_;
};

}  // namespace

std::optional<ProcessReading> InMemoryProcesses::Read(int pid) {
  const auto it = processes.find(pid);
  return it == processes.end() ? std::nullopt : std::optional(it->second);
}

absl::Status InMemoryProcesses::SetOomScoreAdj(const ProcessId& process, int value) {
  const auto it = processes.find(process.pid);
  if (it == processes.end() || it->second.id != process) return absl::NotFoundError("the process has ended");
  if (!may_lower && value < it->second.oom_score_adj)
    return absl::PermissionDeniedError("may not be lowered");
  it->second.oom_score_adj = value;
  ++writes;
  return absl::OkStatus();
}

InMemoryTask& InMemoryTasks::Add(std::string job, std::string task, std::string identity) {
  auto made = std::make_shared<InMemoryTask>();
  made->found.identity = identity.empty() ? StrCat("memory:", job, "/", task) : std::move(identity);
  made->found.job = std::move(job);
  made->found.task = std::move(task);
  return *(tasks_[made->found.identity] = made);
}

absl::StatusOr<std::vector<FoundTask>> InMemoryTasks::Find() {
  if (!find_error.ok()) return find_error;
  std::vector<FoundTask> out;
  for (const auto& [identity, task] : tasks_) {
    if (task->found_by_rule) out.push_back(task->found);
  }
  return out;
}

absl::StatusOr<std::unique_ptr<TaskGroup>> InMemoryTasks::Open(const FoundTask& task) {
  const auto it = tasks_.find(task.identity);
  if (it == tasks_.end()) return absl::NotFoundError("the task is gone");
  return std::make_unique<InMemoryGroup>(it->second);
}

}  // namespace taut::node
