// Tasks that exist only in memory: for tests of code that measures and limits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/agent/process_table.h"
#include "node/agent/task_group.h"

namespace taut::node {

// A simulated task; tests change it while the agent runs.
struct InMemoryTask {
  FoundTask found;
  TaskReading reading;
  TaskLimits limits;
  // As a kernel without swap: a memory limit below memory_bytes is refused.
  bool refuses_shrink_below_usage = true;
  absl::Status set_error;    // if not OK: what SetLimit answers, changing nothing
  absl::Status lost_answer;  // if not OK: what SetLimit answers after it changed the limit
  double least_memory = 0;   // what Least says of memory.max; below it SetLimit is InvalidArgument
  std::optional<double> weight_of_all = {};  // what Rounded says of no CPU weight: a kernel's default
  double least_cores = 0;                    // as short periods do: a CPU limit below is rounded up to it
  std::optional<int64_t> started_s;
  absl::Status kill_error;  // if not OK: what Kill answers
  int kills = 0;            // calls of Kill that were obeyed; memory_bytes is 0 then
  std::string cgroup_path;
  std::vector<GroupAbove> above;
  std::vector<int> pids;               // ascending
  std::function<void()> around_write;  // called before and after each change by SetLimit
  bool found_by_rule = true;           // false: Find leaves it out, Open knows it still
  std::vector<std::pair<LimitKind, std::optional<double>>> writes;  // every SetLimit that was taken
};

// Processes that exist only in memory, with a refusal as the kernel's of those that lack CAP_SYS_RESOURCE.
class InMemoryProcesses final : public ProcessTable {
 public:
  std::map<int, ProcessReading> processes;  // by pid
  bool may_lower = true;
  int writes = 0;

  void Add(int pid, int oom_score_adj, int parent = 1, uint64_t started = 1) {
    processes[pid] = {{pid, started}, parent, oom_score_adj};
  }
  std::optional<ProcessReading> Read(int pid) override;
  absl::Status SetOomScoreAdj(const ProcessId& process, int value) override;
};

class InMemoryTasks final : public TaskFinder {
 public:
  // The reference stays good until the task is removed. `identity` "": made of the names.
  InMemoryTask& Add(std::string job, std::string task, std::string identity = "");
  void Remove(const std::string& identity) { tasks_.erase(identity); }
  std::set<std::string> asleep;   // identities that may come back
  absl::Status find_error;        // if not OK: what Find answers
  std::vector<TaskEvent> events;  // for TakeEvents

  std::string_view name() const override { return "memory"; }
  absl::StatusOr<std::vector<FoundTask>> Find() override;
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override;
  bool MayReturn(const FoundTask& task) override { return asleep.contains(task.identity); }
  std::vector<TaskEvent> TakeEvents() override { return std::exchange(events, {}); }

 private:
  std::map<std::string, std::shared_ptr<InMemoryTask>> tasks_;  // by identity
};

}  // namespace taut::node
