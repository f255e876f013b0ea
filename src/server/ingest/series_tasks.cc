#include "server/ingest/series_tasks.h"

#include "absl/container/flat_hash_map.h"

namespace taut::server {

uint32_t SeriesTasks::Use(JobId job, const std::string& name, uint32_t& next) {
  if (const std::optional<uint32_t> known = ids_.Find({job.value, name}); known.has_value()) {
    ++tasks_[*known].uses;
    return *known;
  }
  uint32_t entry = 0;
  if (free_.empty()) {
    entry = static_cast<uint32_t>(tasks_.size());
    tasks_.emplace_back();
  } else {
    entry = free_.back();
    free_.pop_back();
  }
  tasks_[entry] = {.job = job, .index = next++, .uses = 1, .name = PackedText(name)};
  ids_.Insert(entry);
  return entry;
}

void SeriesTasks::Release(uint32_t entry) {
  Task& task = tasks_[entry];
  if (--task.uses > 0) return;
  ids_.Erase({task.job.value, task.name});
  task.name.clear();
  free_.push_back(entry);
}

std::optional<uint32_t> SeriesTasks::Find(JobId job, const std::string& name) const {
  const std::optional<uint32_t> entry = ids_.Find({job.value, name});
  return entry.has_value() ? std::optional(tasks_[*entry].index) : std::nullopt;
}

std::vector<std::string> SeriesTasks::Names(std::span<const std::pair<JobId, uint32_t>> tasks) const {
  absl::flat_hash_map<uint64_t, size_t> wanted;
  const auto key = [](JobId job, uint32_t index) { return uint64_t{job.value} << 32 | index; };
  for (size_t i = 0; i < tasks.size(); ++i) wanted.emplace(key(tasks[i].first, tasks[i].second), i);
  std::vector<std::string> names(tasks.size());
  if (tasks.empty()) return names;
  for (const Task& task : tasks_) {
    if (task.uses == 0) continue;
    if (const auto it = wanted.find(key(task.job, task.index)); it != wanted.end())
      names[it->second] = task.name.view();
  }
  return names;
}

size_t SeriesTasks::state_bytes() const {
  size_t bytes = ids_.state_bytes() + tasks_.capacity() * sizeof(Task);
  for (const Task& task : tasks_) bytes += task.name.heap_bytes();
  return bytes;
}

}  // namespace taut::server
