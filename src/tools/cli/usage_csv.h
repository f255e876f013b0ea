// Writes windows of usage as rows of the plain CSV format (docs/reference/traces.md), from which a replay reads
// equal windows. Used by `taut trace fetch`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/model/closed_window.h"
#include "server/ingest/live_windows.h"

namespace taut::tools {

class UsageCsv {
 public:
  static constexpr std::string_view kHeader =
      "time,duration,job,task,cpu_cores,cpu_max,cpu_seconds,memory_bytes,cpu_limit,memory_limit,oom_kills\n";

  // Adds the CPU usage of the next measured task of the closing window. REQUIRES: calls have the order of
  // LiveWindows::Options::on_task_cpu.
  void TakeCpu(uint32_t task, std::span<const BucketWeight> buckets);
  // Adds OOM kills, each to the row of its task in the window of the kill. Call before Add() of this window.
  void TakeKills(std::span<const server::OomSighting> kills);
  // Records that the source counts OOM kills. Rows without a kill then have 0 kills instead of an unknown number.
  void KnowKills() { knows_kills_ = true; }
  bool knows_kills() const { return knows_kills_; }

  // Appends the rows of a window to `out`. `name` returns the name of a job. REQUIRES: windows ascend, and names
  // contain no line break.
  void Add(const ClosedWindow& closed, absl::FunctionRef<std::string_view(JobId)> name, std::string& out);

  uint64_t rows() const { return rows_; }
  uint64_t kills() const { return kills_written_; }
  // Returns the number of kills without a row, because the task had no usage in the window.
  uint64_t kills_without_row() const { return kills_taken_ - kills_written_; }
  size_t jobs() const { return jobs_.size(); }
  size_t tasks() const { return tasks_.size(); }
  size_t jobs_without_limit() const { return jobs_.size() - limited_.size(); }

 private:
  struct TaskCpu {
    uint32_t task = 0, first = 0, count = 0;
  };
  struct KillKey {
    int32_t window;
    uint32_t job, task;
    auto operator<=>(const KillKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const KillKey& k) {
      return H::combine(std::move(h), k.window, k.job, k.task);
    }
  };
  void AddRow(const JobWindow& window, const TaskWindow& task, std::string_view job, uint64_t kills,
              std::string& out);

  std::vector<TaskCpu> cpu_;  // CPU usage of tasks in the closing window
  std::vector<BucketWeight> buckets_;
  size_t next_cpu_ = 0;
  absl::flat_hash_map<KillKey, uint64_t> kills_;
  bool knows_kills_ = false;
  uint64_t rows_ = 0, kills_taken_ = 0, kills_written_ = 0;
  absl::flat_hash_set<uint32_t> jobs_, limited_;
  absl::flat_hash_set<uint64_t> tasks_;
};

}  // namespace taut::tools
