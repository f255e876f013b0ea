// Folds one task's series into one window: rates of counters, values of gauges, and the task's usage as the
// sum of its parts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/histogram/grid.h"
#include "common/model/closed_window.h"
#include "common/model/reported_window.h"
#include "common/model/usage.h"
#include "server/ingest/remote_write.h"
#include "server/ingest/series_mapper.h"
#include "server/ingest/start_spans.h"

namespace taut::server {

struct FoldOptions {
  // Longest gap between two samples in which a counter has a rate and a gauge's value lasts.
  int64_t max_gap_ms = 300'000;
  // Duration of a gauge's sample if its sampling interval is unknown.
  int64_t default_interval_ms = 15'000;
  // Greatest share by which a counter may fall without a reset. The counter is then treated as unchanged.
  double jitter_share = 0.01;
  // Greatest accepted rate in cores; the top of the CPU grid.
  double max_cores = 1048.576;
};

struct FoldEvents {
  uint64_t counter_resets = 0;     // counters that started again from 0; the new value is the increase
  uint64_t counter_jitter = 0;     // counters that fell slightly; no increase
  uint64_t gaps = 0;               // gaps between two samples of a counter that are too long for a rate
  uint64_t implausible_rates = 0;  // rates above max_cores: reduced to max_cores, or dropped if far above
};

// Folds the tasks of one job in one window. An object is reusable and keeps its memory. Not thread-safe.
//
// A counter's rate between two samples lasts from the first sample to the second. A gauge's value lasts
// until the next sample or the window's end. The value of the last sample lasts for half the interval between
// the last two samples. A stale marker ends a rate or a value. At any time, the usage of a part is the
// usage of its largest series; the usage of a task is the sum of its parts.
class WindowFold {
 public:
  explicit WindowFold(const FoldOptions& options) : options_(options) {}

  // Starts a job and its window. `startup_ms`: CPU usage is kept apart for this time after a start of a task;
  // 0: never. The task's series report its starts.
  void StartJob(int64_t begin_ms, int64_t end_ms, int64_t startup_ms = 0);
  // Adds a task with all its series, ordered by part. Returns false if no usage was measured in addition to
  // start(). Limits are used only if usage was measured and each part of the usage has a limit.
  bool AddTask(uint32_t task, std::span<const FoldSeries> series, TaskWindow& out);
  // Returns the CPU usage that was kept apart for the last added task; nullopt if no usage was kept apart.
  const std::optional<TaskStart>& start() const { return start_; }
  // Returns the task's CFS periods in the window, from the counters in `series`; 0 periods if there are no
  // counters. Called after AddTask.
  TaskThrottling ThrottlingOf(uint32_t task, std::span<const FoldSeries> series);
  // Returns the job's mean load over the time that these series cover; kAbsent without samples. `series`: series
  // of kinds kLoad and kLoadTotal, ordered by task and part.
  float LoadOf(std::span<const FoldSeries> series);
  // Appends the mean of each signal in `series`, ascending by SeriesBinding::signal. Sorts `series` by
  // signal.
  void AddSignals(std::span<FoldSeries> series, const SeriesMapper& mapper, std::vector<NamedSignal>& out);
  // Adds a window that an agent folded: its buckets and limits. Missing limits are read from `series`, such as the
  // limits in a container's pod spec. If part of the window is in the task's start-up time, all CPU usage of the
  // window is kept apart, because the window is not divided further.
  void AddReported(const ReportedWindow& window, std::span<const FoldSeries> series);
  // Appends the job's CPU signal, ascending. Called once after the last task.
  void TakeCpuBuckets(std::vector<BucketWeight>& out);
  // Returns the largest limit of a task; kAbsent if no task has a limit.
  float cpu_limit_cores() const { return cpu_limit_; }
  float memory_limit_bytes() const { return memory_limit_; }
  // Returns the largest requests of a task; kAbsent if no task has a request.
  OwnerRequests requests() const { return requests_; }

  const FoldEvents& events() const { return events_; }

 private:
  // A change of a value: from `time_ms` on, series number `series` has `value`; minus infinity: no value.
  struct Step {
    int64_t time_ms = 0;
    uint32_t series = 0;
    double value = 0;
  };
  struct Sum {
    double integral = 0;  // value times milliseconds
    int64_t covered_ms = 0;
    double peak = 0;
  };

  // Quantity that a sweep adds up.
  enum class Measure : uint8_t { kCpu, kMemory, kLoad };
  static bool IsOf(SeriesKind kind, Measure measure);

  // Adds the steps of all series of this measure. Returns false if there are none.
  bool AddSteps(std::span<const FoldSeries> series, Measure measure);
  void AddCounterSteps(uint32_t index, const FoldSeries& s, double most);
  void AddGaugeSteps(uint32_t index, const FoldSeries& s);
  // Returns the increase from one sample to the next. Counts resets and jitter.
  double Increase(const RemoteSample& from, const RemoteSample& to);
  void AddStep(uint32_t index, int64_t begin_ms, int64_t end_ms, double value);
  // Returns the integral of the sum of all series over time.
  Sum Sweep(std::span<const FoldSeries> series, Measure measure);
  // Returns the increase of a counter within the window.
  double CountOf(const FoldSeries& s);
  // Returns the sum over parts at the present step; negative if no part is measured.
  double SumOfParts(std::span<const FoldSeries> series, Measure measure) const;
  void AddPiece(int64_t begin_ms, int64_t end_ms, double value, Measure measure, Sum& sum);
  void AddMeasured(int64_t ms, double value, Measure measure, Sum& sum);
  // Sets young_, in whole steps, for the task whose steps were added.
  void FindYoung(std::span<const FoldSeries> series);
  void NoteStart(uint32_t task, const Sum& rest);
  // Returns the owner's limit or request of the task; kAbsent unless each part in used_parts_ has a value.
  float TaskLimit(std::span<const FoldSeries> series, SeriesKind kind) const;
  // Raises the job's largest limits and requests to the task's values, if the task's values are larger.
  void AddAmounts(std::span<const FoldSeries> series, Measure measure);

  const FoldOptions options_;
  int64_t begin_ms_ = 0, end_ms_ = 0, startup_ms_ = 0;
  std::optional<TaskStart> start_;
  float cpu_limit_ = kAbsent, memory_limit_ = kAbsent;
  OwnerRequests requests_;
  FoldEvents events_;
  // Scratch memory of a sweep.
  std::vector<Step> steps_;
  std::vector<StartSpan> young_;  // time in which CPU usage is kept apart
  Sum young_sum_;
  std::vector<double> current_;
  bool needs_all_ = false;  // true: a part is subtracted, so the sum requires values of all parts
  std::vector<uint32_t> used_parts_;
  int64_t cpu_ms_[Grid::kMaxBuckets] = {};
  Bucket lowest_ = Grid::kMaxBuckets, highest_ = 0;  // range of the buckets in cpu_ms_
};

}  // namespace taut::server
