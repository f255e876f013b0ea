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

// Opens the cgroup at a path from the root of its hierarchy; NotFound if there is none.
using CgroupOpener = std::function<absl::StatusOr<std::unique_ptr<TaskGroup>>(std::string_view path)>;

// One life of a container, from a start to its end; after a restart all calls give NotFound.
//
// Limits are never written to the cgroup (but for protection, which the engine does not know) but asked of the
// engine, which keeps them over restarts, and then looked for in both: in what the engine says and in what the
// kernel has. Read does not need the engine.
class DockerTask final : public TaskGroup {
 public:
  // NotFound if the container does not run. `proc_dir`: where the engine's processes are seen, "/proc".
  static absl::StatusOr<std::unique_ptr<DockerTask>> Open(std::shared_ptr<EngineClient> client,
                                                          const std::string& id, const CgroupOpener& opener,
                                                          const std::string& proc_dir);

  absl::Status Read(ReadDepth depth, TaskReading& out) override { return cgroup_->Read(depth, out); }
  // The engine's numbers where the kernel has them, up to its rounding; else the kernel's.
  absl::StatusOr<TaskLimits> ReadLimits() override;
  // Also Unavailable and DeadlineExceeded of the engine. See limit_update.h for what each kind becomes. On
  // cgroup v2 the kernel would kill to shrink memory below its use, so that is refused here.
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
  // As it is now; NotFound if this life of it is over.
  absl::StatusOr<ContainerDetails> Inspect();
  absl::Status CheckShrink(double bytes);
  absl::Status Verify(LimitKind kind, const ContainerLimits& expected, int64_t cores);

  const std::shared_ptr<EngineClient> client_;
  const ContainerDetails start_;
  const CgroupVersion version_;
  const std::unique_ptr<TaskGroup> cgroup_;
  bool is_gone_ = false;
};

// Sets the memory limit that a stopped container will have at its next start, as after an OOM kill that
// ended it. FailedPrecondition if it runs: then open it and use SetLimit.
absl::Status SetMemoryOfStopped(EngineClient& client, std::string_view id, double bytes);

}  // namespace taut::node
