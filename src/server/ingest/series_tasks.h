// The tasks that series and agents name: each has a number within its job, which is never reused.
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

// Not thread-safe. About 60 bytes per task in use.
class SeriesTasks {
 public:
  SeriesTasks() = default;
  SeriesTasks(const SeriesTasks&) = delete;
  SeriesTasks& operator=(const SeriesTasks&) = delete;

  // Returns the entry of the task of this name and counts one more use. A new task gets the number `next`,
  // which increases.
  uint32_t Use(JobId job, const std::string& name, uint32_t& next);
  // Counts one use less; the last one forgets the task.
  void Release(uint32_t entry);

  // REQUIRES: an entry in use.
  uint32_t index(uint32_t entry) const { return tasks_[entry].index; }
  std::string_view name(uint32_t entry) const { return tasks_[entry].name; }
  // Returns the number of the task of this name; nullopt if the job has none at present.
  std::optional<uint32_t> Find(JobId job, const std::string& name) const;
  // Returns the names of these tasks, in their order; "" for a task that does not exist. O(all tasks).
  std::vector<std::string> Names(std::span<const std::pair<JobId, uint32_t>> tasks) const;
  size_t state_bytes() const;

 private:
  struct Task {
    JobId job;
    uint32_t index = 0;
    uint32_t uses = 0;  // number of slots; 0: this entry is free
    PackedText name;
  };
  // Key of ids_.
  struct JobAndName {
    const std::vector<Task>* tasks;
    std::pair<uint32_t, std::string_view> operator()(uint32_t entry) const {
      return {(*tasks)[entry].job.value, (*tasks)[entry].name};
    }
  };
  std::vector<Task> tasks_;
  std::vector<uint32_t> free_;
  NumbersByKey<JobAndName> ids_{JobAndName{&tasks_}};  // indices of tasks_
};

}  // namespace taut::server
