#include "server/pool/running_work.h"

namespace taut::server {

void RunningWork::Add(const Task& task) {
  const auto [at, is_new] = tasks_.try_emplace(task.name, task.work);
  if (!is_new && at->second == task.work) return;
  if (!is_new) {
    Drop(at->second);
    at->second = task.work;
  }
  ++works_[task.work].tasks;
}

void RunningWork::Drop(const std::string& work) {
  const auto at = works_.find(work);
  if (at == works_.end() || at->second.tasks == 0 || --at->second.tasks > 0) return;
  at->second.until_s = steady_s_() + keep_s_;
  ends_.emplace_back(at->second.until_s, work);
}

void RunningWork::Expire() {
  const double now_s = steady_s_();
  while (!ends_.empty() && ends_.front().first <= now_s) {
    const auto at = works_.find(ends_.front().second);
    if (at != works_.end() && at->second.tasks == 0 && at->second.until_s <= now_s) works_.erase(at);
    ends_.pop_front();
  }
}

void RunningWork::Replace(std::span<const Task> tasks) {
  const std::lock_guard lock(mutex_);
  Expire();
  known_ = true;
  const auto before = std::exchange(tasks_, {});
  // Add new tasks before removing old ones, so that a continuing workload does not end in between.
  for (const Task& task : tasks) Add(task);
  for (const auto& [name, work] : before) Drop(work);
}

void RunningWork::Put(const Task& task) {
  const std::lock_guard lock(mutex_);
  Expire();
  Add(task);
}

void RunningWork::Remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Expire();
  const auto at = tasks_.find(name);
  if (at == tasks_.end()) return;
  Drop(at->second);
  tasks_.erase(at);
}

RunningWork::Answer RunningWork::Ask(std::string_view work) {
  const std::lock_guard lock(mutex_);
  Expire();
  if (!known_) return Answer::kUnknown;
  return works_.contains(std::string(work)) ? Answer::kRuns : Answer::kIsNew;
}

size_t RunningWork::size() const {
  const std::lock_guard lock(mutex_);
  return works_.size();
}

}  // namespace taut::server
