// Tasks that exist only in memory, for tests of code that measures and limits.
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
  // True: like a kernel without swap, SetLimit refuses a memory limit below memory_bytes.
  bool refuses_shrink_below_usage = true;
  absl::Status set_error;    // error that SetLimit returns without a change; OK: none
  absl::Status lost_answer;  // error that SetLimit returns after it changed the limit; OK: none
  double least_memory = 0;   // result of Least(kMemoryMax); below it SetLimit fails with InvalidArgument
  std::optional<double> weight_of_all = {};  // result of Rounded(kCpuWeight, none): a kernel's default weight
  double least_cores = 0;  // SetLimit rounds lower CPU limits up to this value, as with short periods
  std::optional<int64_t> started_s;
  absl::Status kill_error;    // error that Kill returns; OK: none
  int kills = 0;              // successful calls of Kill, which set memory_bytes to 0
  bool may_be_reset = false;  // result of MayBeReset
  std::string cgroup_path;
  std::vector<GroupAbove> above;
  std::vector<int> pids;               // ascending
  std::function<void()> around_write;  // called before and after each change by SetLimit
  bool found_by_rule = true;           // false: Find omits the task, but Open opens it
  std::vector<std::pair<LimitKind, std::optional<double>>> writes;  // successful calls of SetLimit
};

// Processes that exist only in memory. With may_lower false, SetOomScoreAdj refuses to lower a value, as the
// kernel does without CAP_SYS_RESOURCE.
class InMemoryProcesses final : public ProcessTable {
 public:
  std::map<int, ProcessReading> processes;  // keyed by pid
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
  // Adds a task. The reference is valid until the task is removed. If `identity` is empty, the identity is built
  // from the names.
  InMemoryTask& Add(std::string job, std::string task, std::string identity = "");
  void Remove(const std::string& identity) { tasks_.erase(identity); }
  std::set<std::string> asleep;   // identities for which MayReturn is true
  absl::Status find_error;        // error that Find returns; OK: none
  std::vector<TaskEvent> events;  // events that the next TakeEvents returns

  std::string_view name() const override { return "memory"; }
  absl::StatusOr<std::vector<FoundTask>> Find() override;
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override;
  bool MayReturn(const FoundTask& task) override { return asleep.contains(task.identity); }
  std::vector<TaskEvent> TakeEvents() override { return std::exchange(events, {}); }

 private:
  std::map<std::string, std::shared_ptr<InMemoryTask>> tasks_;  // keyed by identity
};

}  // namespace taut::node
