// Tasks that exist only in memory: for tests of whoever measures and limits.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ports/task_group.h"

namespace taut {

// What a made-up task is; tests change it while the agent looks on.
struct InMemoryTask {
  FoundTask found;
  TaskReading reading;
  TaskLimits limits;
  // As a kernel without swap: a memory limit below memory_bytes is refused.
  bool refuses_shrink_below_usage = true;
  absl::Status set_error;  // if not OK: what SetLimit answers, changing nothing
  std::vector<std::pair<LimitKind, std::optional<double>>> writes;  // every SetLimit that was taken
};

class InMemoryTasks final : public TaskFinder {
 public:
  // The reference stays good until the task is removed.
  InMemoryTask& Add(std::string job, std::string task);
  void Remove(const std::string& identity) { tasks_.erase(identity); }

  std::string_view name() const override { return "memory"; }
  absl::StatusOr<std::vector<FoundTask>> Find() override;
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override;

 private:
  std::map<std::string, std::shared_ptr<InMemoryTask>> tasks_;  // by identity
};

}  // namespace taut
