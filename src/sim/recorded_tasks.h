// Which recorded tasks stand for the tasks of a cell's jobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "cell/cell_model.h"
#include "model/resource.h"
#include "sim/replay.h"

namespace taut {

// Rows of a cell's usual resources, and what they count: millicores, bytes.
// That of no row: the cell has none of it.
inline size_t CellRowOf(Resource r) {
  return r == Resource::kCpu ? kCellCpu : r == Resource::kMemory ? kCellMemory : SIZE_MAX;
}
inline double CellUnitsOf(Resource r) { return InCores(r) ? 1000 : 1; }
// An amount of usage in that unit. What is a whole number of units but for the error of a float stays it; else
// rounded up.
int64_t CellAmountOf(Resource r, double amount);

// A source up to a window: what comes later is not there. Keeps a reference.
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

// Of the jobs of a cell, by name, the tasks that were measured within an hour of the job's last window before a
// time. The i-th task of a cell's job is the (i mod count)-th of them.
class RecordedTasks {
 public:
  struct Range {
    uint32_t first = 0, count = 0;
  };
  // Those of a job, ascending by task; none for a job without usage.
  Range Of(const std::string& job) const;
  // Of a recorded task its number among all; kNone: it is not there any more, or of no job of the cell.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t NumberOf(JobId job, uint32_t task) const;
  size_t size() const { return numbers_.size(); }
  // Row of the cell of each.
  uint32_t row(uint32_t number) const { return rows_[number]; }

 private:
  friend absl::StatusOr<RecordedTasks> ReadRecordedTasks(DaySource& source, const CellModel& cell,
                                                         WindowId until);
  absl::flat_hash_map<std::string, Range> jobs_;
  absl::flat_hash_map<uint64_t, uint32_t> numbers_;  // by job and task
  std::vector<uint32_t> rows_;
};
// Reads the days before `until`. 40 bytes a task.
absl::StatusOr<RecordedTasks> ReadRecordedTasks(DaySource& source, const CellModel& cell, WindowId until);

}  // namespace taut
