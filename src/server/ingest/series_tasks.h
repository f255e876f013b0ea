// The tasks that series and agents name. Each task has a number within its job, which is never reused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/numbers_by_key.h"
#include "common/base/packed_text.h"
#include "common/model/job_table.h"

namespace taut::server {

// Not thread-safe. Uses about 60 bytes per task in use.
class SeriesTasks {
 public:
  SeriesTasks() = default;
  SeriesTasks(const SeriesTasks&) = delete;
  SeriesTasks& operator=(const SeriesTasks&) = delete;

  // Returns the entry of the task of this name, and counts one more use of the entry. A new task is assigned the
  // number `next`, which is then increased.
  uint32_t Use(JobId job, const std::string& name, uint32_t& next);
  // Removes one use of the entry. The task is forgotten with its last use.
  void Release(uint32_t entry);

  // Returns the task's number within its job. REQUIRES: the entry is in use.
  uint32_t index(uint32_t entry) const { return tasks_[entry].index; }
  std::string_view name(uint32_t entry) const { return tasks_[entry].name; }
  // Returns the number of the task of this name; nullopt if the job has no such task at present.
  std::optional<uint32_t> Find(JobId job, const std::string& name) const;
  // Returns the names of these tasks, in the order of `tasks`; "" for a task that does not exist. O(all
  // tasks).
  std::vector<std::string> Names(std::span<const std::pair<JobId, uint32_t>> tasks) const;
  size_t state_bytes() const;

 private:
  struct Task {
    JobId job;
    uint32_t index = 0;
    uint32_t uses = 0;  // number of slots that use this entry; 0: free
    PackedText name;
  };
  // Maps an entry of ids_ to its key: job and name of the task.
  struct JobAndName {
    const std::vector<Task>* tasks;
    std::pair<uint32_t, std::string_view> operator()(uint32_t entry) const {
      return {(*tasks)[entry].job.value, (*tasks)[entry].name};
    }
  };
  std::vector<Task> tasks_;
  std::vector<uint32_t> free_;
  NumbersByKey<JobAndName> ids_{JobAndName{&tasks_}};  // indices of tasks_ by job and name
};

}  // namespace taut::server
