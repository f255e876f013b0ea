// Folds usage rows, in whatever order they come, into JobDays, and hands these out day by day.
//
// Memory: what has been folded is kept packed; past `memory_budget_bytes` it goes, compressed, to an unlinked
// temporary file, one run a day. So memory is bounded by the budget and the jobs alive in one day, not by the
// trace's length.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/trace/trace_reader.h"

namespace taut::tools {

// All but `rows` are found while a day is sorted: they cover the days loaded so far, each counted once.
struct FoldReport {
  uint64_t rows = 0, job_windows = 0, task_windows = 0;
  uint64_t duplicates = 0;      // same task and start seen again: merged by max
  uint64_t shared_windows = 0;  // task-windows made of several rows: weighed by their seconds
  uint64_t late_rows = 0;       // rows behind a later row of the same task and day
};

// A row belongs to the window that holds its start. The owner's limit of a window is the largest that its
// rows carry; where none does, the last known before: from OnLimit at or before the window's start, or from
// an earlier window's rows. The JobDays do not depend on the order of the rows. About 50 ns a row to fold and
// 60 ns to load.
class JobDayStore final : public TraceSink {
 public:
  struct Options {
    size_t memory_budget_bytes = size_t{1} << 30;
    std::string spill_directory = "/tmp";
  };
  explicit JobDayStore(Options options);
  ~JobDayStore() override;

  void OnJob(JobId id, const JobInfo& info) override;
  void OnUsage(const UsageRow& row) override;
  void OnLimit(JobId id, Timestamp t, std::optional<float> cpu_cores,
               std::optional<float> memory_bytes) override;
  // Call once after the last row. Not OK if spilling failed (disk full: says so).
  absl::Status Finish();

  const std::vector<JobInfo>& jobs() const;
  const FoldReport& report() const;
  // Days with data, ascending. After Finish().
  const std::vector<int32_t>& days() const;
  // The last day on which the job has usage; INT32_MIN if it has none.
  int32_t last_day(JobId job) const;
  // The day's jobs, ascending by JobId; may be called for any day, from one thread at a time.
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::tools
