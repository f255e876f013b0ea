// Packed usage as a table, and the usage of one part of a fleet that such a table contains.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "arrow_c.h"
#include "named_columns.h"
#include "tools/sim/replay.h"
#include "tools/trace/job_days.h"
#include "tools/trace/trace_reader.h"

namespace taut::python {

// Columns of a table of packs. In a row without a job, the pack is the report of a reader.
enum PackColumn : size_t {
  kJob,
  kProgram,
  kSensitivity,
  kPriority,
  kDay,
  kRows,
  kFirstUs,
  kReader,
  kNamedTasks,
  kPack,
  kNumPackColumns
};
inline constexpr std::array<std::string_view, kNumPackColumns> kPackColumns = {
    "job", "program", "sensitivity", "priority", "day", "rows", "first_us", "reader", "named_tasks", "pack"};

// The job-days of one part, from its packs.
class PackedTrace final : public tools::DaySource {
 public:
  explicit PackedTrace(size_t memory_bytes) : store_({.memory_budget_bytes = memory_bytes}) {}

  // Reads packs of whole jobs; `stops` returns true to stop. Returns InvalidArgument for another table, and
  // DataLoss for damaged packs.
  absl::Status Read(ArrowArrayStream& stream, const std::function<bool()>& stops);
  const tools::ReadReport& report() const { return report_; }
  const tools::FoldReport& fold() const { return store_.report(); }

  const std::vector<JobInfo>& jobs() const override { return store_.jobs(); }
  const std::vector<int32_t>& days() const override { return store_.days(); }
  int32_t last_day(JobId job) const override { return store_.last_day(job); }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override { return store_.LoadDay(day); }

 private:
  // Number of a job, and the reader of its first pack with named tasks.
  struct Known {
    JobId id;
    std::optional<int64_t> reader;
  };

  absl::Status Begin(const ArrowSchema& schema);
  absl::Status Take(const ArrowArray& batch);
  absl::Status TakeReport(int64_t row);
  absl::Status TakePack(int64_t row);
  Known& JobOf(int64_t row);
  std::optional<int64_t> Number(PackColumn column, int64_t row) const {
    return columns_[column].IsNull(row) ? std::nullopt : std::optional(columns_[column].Integer(row));
  }

  tools::JobDayStore store_;
  tools::ReadReport report_;
  NamedColumns<kNumPackColumns> columns_;
  absl::flat_hash_map<std::string, Known> known_;
};

}  // namespace taut::python
