// Folds usage rows in any order into JobDays, and returns them day by day.
//
// Folded rows are kept in packed form. If they exceed `memory_budget_bytes`, they are compressed and written to an
// unlinked temporary file, one run per day. So memory depends on the budget and the jobs of one day, not on the
// length of the trace.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/trace/job_days_pack.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Counts of folding. All counts except `rows` are updated when a day is loaded for the first time.
struct FoldReport {
  uint64_t rows = 0, job_windows = 0, task_windows = 0;
  uint64_t duplicates = 0;      // rows with the task and start of another row, merged by maximum
  uint64_t shared_windows = 0;  // task-windows with several rows, weighted by their seconds
  uint64_t late_rows = 0;       // rows that arrived after a later row of the same task and day
};

// Stores usage rows as days. A row belongs to the window that contains its start. The owner's limit in a window is
// the largest limit of the window's rows. If no row has a limit, the limit in the window is the last known limit
// from OnLimit() or from rows of earlier windows. The JobDays do not depend on the order of the rows. Cost: about
// 50 ns per row to fold and 60 ns to load. Not thread-safe.
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
  // Adds packed rows of one job and day, instead of calls of OnUsage().
  void AddRows(JobId job, int32_t day, const DayRows& rows);
  // Ends the folding. Call once, after the last row. Returns the error of writing the temporary file, such as a
  // full disk.
  absl::Status Finish();

  const std::vector<JobInfo>& jobs() const;
  const FoldReport& report() const;
  // Returns the days with rows, ascending. REQUIRES: Finish() was called.
  const std::vector<int32_t>& days() const;
  // Returns the last day with usage of the job; INT32_MIN if there is none.
  int32_t last_day(JobId job) const;
  // Returns the jobs of a day, ascending by JobId; empty for a day without rows. May be called repeatedly for any
  // day, by one thread at a time. REQUIRES: Finish() was called.
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::tools
