// Workloads that run now or ran recently, which distinguish the replacement of a task from new work.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace taut::server {

// Tracks the workloads of tasks. Thread-safe, with one lock. Memory: a few hundred bytes per current task, and per
// workload of the last `keep_s`.
class RunningWork {
 public:
  // A workload counts as running for `keep_s` after its last task ended. The tasks of a workload may be lost all
  // at once, or be recreated one after the other.
  explicit RunningWork(std::function<double()> steady_s, double keep_s = 3600)
      : steady_s_(std::move(steady_s)), keep_s_(keep_s) {}

  struct Task {
    std::string name;  // name, unique among current tasks
    std::string work;  // key of the task's workload
  };
  // Replaces all current tasks. `tasks` includes ended tasks and tasks that are being deleted, because their
  // workloads ran.
  void Replace(std::span<const Task> tasks);
  // Adds a task, or moves it to another workload.
  void Put(const Task& task);
  // Removes a task. An unknown name has no effect.
  void Remove(const std::string& name);

  // Result of a query for a workload; kUnknown before the first Replace().
  enum class Answer : uint8_t { kUnknown, kRuns, kIsNew };
  Answer Ask(std::string_view work);
  size_t size() const;  // number of workloads that count as running

 private:
  struct Work {
    size_t tasks = 0;
    double until_s = 0;  // end of keep_s for a workload without tasks
  };
  // REQUIRES (all functions below): mutex_ is locked.
  void Add(const Task& task);
  void Drop(const std::string& work);
  void Expire();

  const std::function<double()> steady_s_;
  const double keep_s_;
  mutable std::mutex mutex_;
  bool known_ = false;
  std::unordered_map<std::string, std::string> tasks_;  // key of the task's workload, by the name of the task
  std::unordered_map<std::string, Work> works_;
  // Ends of keep_s for workloads without tasks, ascending. Includes some workloads that have tasks again.
  std::deque<std::pair<double, std::string>> ends_;
};

}  // namespace taut::server
