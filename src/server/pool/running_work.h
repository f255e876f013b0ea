// Which workloads run, or ran a short time ago: this distinguishes what replaces one of their tasks from new work.
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

// Thread-safe; one lock. A few hundred bytes for each task that is there, and for each workload of the last
// `keep_s`.
class RunningWork {
 public:
  // A workload whose last task is gone still counts as running for `keep_s`: its tasks may all have been lost at
  // once, or are recreated one after the other.
  explicit RunningWork(std::function<double()> steady_s, double keep_s = 3600)
      : steady_s_(std::move(steady_s)), keep_s_(keep_s) {}

  struct Task {
    std::string name;  // of no other task that is there
    std::string work;  // whose workload it is
  };
  // All tasks that are there, also those that have ended or are being deleted: their workload ran.
  void Replace(std::span<const Task> tasks);
  // One that is there, new, or of another workload than was known before.
  void Put(const Task& task);
  void Remove(const std::string& name);

  // kUnknown before the first Replace.
  enum class Answer : uint8_t { kUnknown, kRuns, kIsNew };
  Answer Ask(std::string_view work);
  size_t size() const;  // workloads that count as running

 private:
  struct Work {
    size_t tasks = 0;
    double until_s = 0;  // of one without tasks
  };
  // These REQUIRE mutex_.
  void Add(const Task& task);
  void Drop(const std::string& work);
  void Expire();

  const std::function<double()> steady_s_;
  const double keep_s_;
  mutable std::mutex mutex_;
  bool known_ = false;
  std::unordered_map<std::string, std::string> tasks_;  // name -> work
  std::unordered_map<std::string, Work> works_;
  std::deque<std::pair<double, std::string>>
      ends_;  // of works without tasks, ascending; also of some that have some
};

}  // namespace taut::server
