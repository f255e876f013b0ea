// Maps the tasks of a cell's jobs to recorded tasks, and reads the usage of the recorded tasks.
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

// Row of a resource in a cell's amounts; SIZE_MAX for a resource that cells do not have.
inline size_t CellRowOf(Resource r) {
  return r == Resource::kCpu ? brain::kCellCpu : r == Resource::kMemory ? brain::kCellMemory : SIZE_MAX;
}
// Units of a cell per core or byte: millicores, bytes.
inline double CellUnitsOf(Resource r) { return InCores(r) ? 1000 : 1; }
// Converts an amount of usage to the cell's units. Rounds up, except that an amount within 1e-6 of a whole
// number of units is rounded to that number, because floats are not exact.
int64_t CellAmountOf(Resource r, double amount);
// Returns the limit of each task of the job, in cores or bytes. REQUIRES: the cell has the resource.
inline double CellLimitOf(const brain::CellJob& job, Resource r) {
  return static_cast<double>(job.limit[CellRowOf(r)]) / CellUnitsOf(r);
}

// A source that ends before a given window: it hides the usage from this window on. Keeps a reference to the
// original source.
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
// completed share of the days. Both hooks may be empty. Returns Cancelled if `should_stop` returned true
// before a day, and else the errors of LoadDay.
absl::Status ForEachDay(DaySource& source, const std::function<bool()>& should_stop,
                        const std::function<void(std::string_view what, double share)>& on_progress,
                        std::string_view what, absl::FunctionRef<void(const std::vector<JobDay>& jobs)> take);

// Calls fn(WindowId, uint32_t task, float usage, float limit) for each task in each window of the day in
// which the resource was measured. `usage` is the value that limits are compared with (TaskWindow::judged).
// `limit` is the task's limit in the window, or the cell's limit if the former is unknown.
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

// The recorded tasks of a cell's jobs, matched by the job's name. They are the tasks that were measured
// within an hour of the job's last window before a given time. The i-th task of a cell's job is the (i mod
// count)-th recorded task.
class RecordedTasks {
 public:
  struct Range {
    uint32_t first = 0, count = 0;
  };
  // Returns the recorded tasks of a job, ascending by task; count is 0 for a job without usage.
  Range Of(const std::string& job) const;
  // Returns the number of a recorded task among all recorded tasks. Returns kNone if the task was not
  // measured in the hour before the job's last window, or if the task's job is not in the cell.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t NumberOf(JobId job, uint32_t task) const;
  size_t size() const { return numbers_.size(); }
  // Returns the row of the task's job in the cell.
  uint32_t row(uint32_t number) const { return rows_[number]; }

 private:
  friend absl::StatusOr<RecordedTasks> ReadRecordedTasks(DaySource& source, const brain::CellModel& cell,
                                                         WindowId until);
  absl::flat_hash_map<std::string, Range> jobs_;
  absl::flat_hash_map<uint64_t, uint32_t> numbers_;  // number of each recorded task, by job and task
  std::vector<uint32_t> rows_;
};
// Returns the recorded tasks; reads the days before `until`. Memory: 40 bytes per task. Returns the errors of
// LoadDay.
absl::StatusOr<RecordedTasks> ReadRecordedTasks(DaySource& source, const brain::CellModel& cell,
                                                WindowId until);

}  // namespace taut::tools
