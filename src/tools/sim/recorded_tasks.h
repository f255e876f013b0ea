// Assigns recorded tasks to the tasks of a cell, and reads the usage of the recorded tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/cell/cell_model.h"
#include "common/model/resource.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Returns the row of a resource in a cell's amounts; SIZE_MAX if cells do not have the resource.
inline size_t CellRowOf(Resource r) {
  return r == Resource::kCpu ? brain::kCellCpu : r == Resource::kMemory ? brain::kCellMemory : SIZE_MAX;
}
// Returns the number of a cell's units (millicores, bytes) per core or byte.
inline double CellUnitsOf(Resource r) { return InCores(r) ? 1000 : 1; }
// Converts usage to units of a cell. Rounds up, except for an amount within 1e-6 of a whole number, which is only
// a rounding error.
int64_t CellAmountOf(Resource r, double amount);
// Returns the limit of each task of the job, in cores or bytes. REQUIRES: the cell has the resource.
inline double CellLimitOf(const brain::CellJob& job, Resource r) {
  return static_cast<double>(job.limit[CellRowOf(r)]) / CellUnitsOf(r);
}

// A source without the usage from a given window on. The wrapped source must outlive this object.
class SourceUntil final : public DaySource {
 public:
  SourceUntil(DaySource& source, WindowId until);
  const std::vector<JobInfo>& jobs() const override { return source_.jobs(); }
  const std::vector<int32_t>& days() const override { return days_; }
  int32_t last_day(JobId job) const override { return source_.last_day(job); }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override;

 private:
  DaySource& source_;
  const WindowId until_;
  std::vector<int32_t> days_;
};

// Calls `take` for each day of the source, in order. After each day, calls `on_progress` with `what` and the
// finished share of the days. `should_stop` and `on_progress` may be empty. Returns Cancelled if `should_stop`
// returned true, and errors of LoadDay().
absl::Status ForEachDay(DaySource& source, const std::function<bool()>& should_stop,
                        const std::function<void(std::string_view what, double share)>& on_progress,
                        std::string_view what, absl::FunctionRef<void(const std::vector<JobDay>& jobs)> take);

// Calls fn(WindowId, uint32_t task, float usage, float limit) for each task and window of the day with a
// measurement of the resource. `usage` is the value that is compared with limits (TaskWindow::judged). `limit` is
// the task's limit, or the cell's limit if unknown.
template <typename Fn>
void ForEachMeasured(const JobDay& day, Resource resource, const brain::CellJob& job, Fn&& fn) {
  const auto asked = static_cast<float>(CellLimitOf(job, resource));
  for (const JobWindow& w : day.windows) {
    const float own = w.limit(resource), limit = own > 0 ? own : asked;
    for (uint32_t i = w.first_task; i < w.first_task + w.num_tasks; ++i) {
      const TaskWindow& t = day.tasks[i];
      if (const float usage = t.judged(resource); usage >= 0) fn(w.window, t.task, usage, limit);
    }
  }
}

// Recorded tasks of the cell's jobs, matched by name: the tasks with a measurement within an hour of the job's
// last window before a given time. Task i of a job of the cell is the recorded task (i mod count).
class RecordedTasks {
 public:
  struct Range {
    uint32_t first = 0, count = 0;
  };
  // Returns the recorded tasks of a job, ascending by task. `count` is 0 for a job without usage.
  Range Of(const std::string& job) const;
  // Returns a task's number among all recorded tasks. Returns kNone if the task's job is not in the cell, or if
  // the task was not measured within the hour before the job's last window.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t NumberOf(JobId job, uint32_t task) const;
  size_t size() const { return numbers_.size(); }
  // Returns the row in the cell of a recorded task's job.
  uint32_t row(uint32_t number) const { return rows_[number]; }

 private:
  friend absl::StatusOr<RecordedTasks> ReadRecordedTasks(DaySource& source, const brain::CellModel& cell,
                                                         WindowId until);
  absl::flat_hash_map<std::string, Range> jobs_;
  absl::flat_hash_map<uint64_t, uint32_t> numbers_;  // number of a recorded task, by job and task
  std::vector<uint32_t> rows_;
};
// Reads the days before `until`, and returns the recorded tasks. Memory: 40 bytes per task. Returns errors of
// LoadDay().
absl::StatusOr<RecordedTasks> ReadRecordedTasks(DaySource& source, const brain::CellModel& cell,
                                                WindowId until);

}  // namespace taut::tools
