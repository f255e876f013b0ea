// A container as a task: measured through its cgroup, limited through the engine.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/agent/task_group.h"
#include "node/docker/engine_client.h"
#include "node/docker/limit_update.h"

namespace taut::node {

// Opens the cgroup at a path below its hierarchy's root; NotFound if there is no such cgroup.
using CgroupOpener = std::function<absl::StatusOr<std::unique_ptr<TaskGroup>>(std::string_view path)>;

// One start of a container, until it ends. After a restart all calls fail with NotFound.
//
// Limits are set through the engine, which keeps them across restarts, and then verified in both engine and
// kernel. Only memory protection, which the engine does not support, is written to the cgroup. Read does not
// need the engine.
class DockerTask final : public TaskGroup {
 public:
  // Opens the present start of a container. NotFound if the container is not running. `proc_dir`: where the
  // engine's processes are visible, "/proc".
  static absl::StatusOr<std::unique_ptr<DockerTask>> Open(std::shared_ptr<EngineClient> client,
                                                          const std::string& id, const CgroupOpener& opener,
                                                          const std::string& proc_dir);

  absl::Status Read(ReadDepth depth, TaskReading& out) override { return cgroup_->Read(depth, out); }
  // Returns, for each limit, the engine's value if the kernel's value agrees up to rounding, else the kernel's
  // value.
  absl::StatusOr<TaskLimits> ReadLimits() override;
  // Sets a limit through the engine, with the errors of TaskGroup and also Unavailable and DeadlineExceeded
  // of the engine. limit_update.h defines the request for each kind. On cgroup v2 the kernel would kill
  // processes to shrink memory below the usage. SetLimit refuses such a limit with ResourceExhausted.
  absl::Status SetLimit(LimitKind kind, std::optional<double> value) override;

  std::optional<double> Rounded(LimitKind kind, std::optional<double> value) override;
  double Least(LimitKind kind) const override {
    return kind == LimitKind::kMemoryMax ? static_cast<double>(kLeastMemoryLimit) : 0;
  }
  absl::StatusOr<int> Kill() override { return cgroup_->Kill(); }
  std::vector<GroupAbove> ReadAbove() override { return cgroup_->ReadAbove(); }
  std::vector<int> Pids(const std::set<std::string_view>& leave_out) override {
    return cgroup_->Pids(leave_out);
  }
  std::string_view cgroup_path() const override { return cgroup_->cgroup_path(); }
  std::optional<int64_t> started_s() const override;

  Wakeup oom_wakeup() const override { return cgroup_->oom_wakeup(); }
  void ClearOomWakeup() override { cgroup_->ClearOomWakeup(); }

 private:
  DockerTask(std::shared_ptr<EngineClient> client, ContainerDetails start, CgroupVersion version,
             std::unique_ptr<TaskGroup> cgroup);
  // Returns the present details; NotFound if this start is over.
  absl::StatusOr<ContainerDetails> Inspect();
  absl::Status CheckShrink(double bytes);
  absl::Status Verify(LimitKind kind, const ContainerLimits& expected, int64_t cores);

  const std::shared_ptr<EngineClient> client_;
  const ContainerDetails start_;
  const CgroupVersion version_;
  const std::unique_ptr<TaskGroup> cgroup_;
  bool is_gone_ = false;
};

// Sets the memory limit for the next start of a stopped container, as after an OOM kill that ended the
// container. FailedPrecondition if the container runs; in that case open it and call SetLimit.
absl::Status SetMemoryOfStopped(EngineClient& client, std::string_view id, double bytes);

}  // namespace taut::node
