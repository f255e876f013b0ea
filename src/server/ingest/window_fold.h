// One task's series in one window: rates from counters, holds from gauges, and their sum over time.
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
  // A rate is not taken, and a gauge not held, over a longer gap between two samples.
  int64_t max_gap_ms = 300'000;
  // How long a gauge's sample stands if nothing says how often it is sampled.
  int64_t default_interval_ms = 15'000;
  // A counter that falls by less than this share has wobbled, not started again.
  double jitter_share = 0.01;
  // A rate above this is no rate (cores); the top of the CPU grid.
  double max_cores = 1048.576;
};

struct FoldEvents {
  uint64_t counter_resets = 0;     // counted from 0 again: the whole new value is the increase
  uint64_t counter_jitter = 0;     // fell by a hair: no increase
  uint64_t gaps = 0;               // between two samples of a counter: no rate
  uint64_t implausible_rates = 0;  // above the most that is counted: that, or no rate if far above
};

// Folds the tasks of one job in one window. Reusable; keeps its memory.
//
// A counter's rate between two samples stands from the one to the other. A gauge's sample stands from its
// time to the next sample, to the window's end or, if it is the last, for half the time between it and the
// one before. A stale marker ends what stood. At any moment series of one part count once, the largest; parts
// are added up.
class WindowFold {
 public:
  explicit WindowFold(const FoldOptions& options) : options_(options) {}

  // `startup_ms`: in this time after a start that its series say, CPU usage of a task is kept apart; 0: none is.
  void StartJob(int64_t begin_ms, int64_t end_ms, int64_t startup_ms = 0);
  // All series of one task, ordered by part. False if nothing was measured, but what start() says. Limits count
  // only where there is usage with a limit for each of its parts.
  bool AddTask(uint32_t task, std::span<const FoldSeries> series, TaskWindow& out);
  // The CPU usage that was kept apart of the task that was added last; nullopt: none.
  const std::optional<TaskStart>& start() const { return start_; }
  // The CFS periods of the task in the window, by the counters among `series`; none: 0 periods. After AddTask.
  TaskThrottling ThrottlingOf(uint32_t task, std::span<const FoldSeries> series);
  // The mean load of the job while any of these series stands, which are of kind kLoad or kLoadTotal, ordered
  // by task and part; kAbsent: nothing was measured.
  float LoadOf(std::span<const FoldSeries> series);
  // The same of each signal that `series` are of, by ascending SeriesBinding::signal. `series` is sorted by it.
  void AddSignals(std::span<FoldSeries> series, const SeriesMapper& mapper, std::vector<NamedSignal>& out);
  // A task that is folded already: its buckets and limits become the job's. Where it knows none, those of its
  // series do, as of a container of a pod, whose spec says what its owner wants. If any of the window is in the
  // task's start-up window, all of its CPU usage is kept apart: nothing is known of the window's parts.
  void AddReported(const ReportedWindow& window, std::span<const FoldSeries> series);
  // Appends the job's CPU signal, ascending. Call once after the last task.
  void TakeCpuBuckets(std::vector<BucketWeight>& out);
  // The largest of the tasks' limits, or kAbsent.
  float cpu_limit_cores() const { return cpu_limit_; }
  float memory_limit_bytes() const { return memory_limit_; }
  // The same of requests.
  OwnerRequests requests() const { return requests_; }

  const FoldEvents& events() const { return events_; }

 private:
  // From `time_ms` on series number `series` stands at `value`; minus infinity: it stands no more.
  struct Step {
    int64_t time_ms = 0;
    uint32_t series = 0;
    double value = 0;
  };
  struct Sum {
    double integral = 0;  // value x ms
    int64_t covered_ms = 0;
    double peak = 0;
  };

  // What a sweep adds up.
  enum class Measure : uint8_t { kCpu, kMemory, kLoad };
  static bool IsOf(SeriesKind kind, Measure measure);

  // Steps of all series of this measure. False: there are none.
  bool AddSteps(std::span<const FoldSeries> series, Measure measure);
  void AddCounterSteps(uint32_t index, const FoldSeries& s, double most);
  void AddGaugeSteps(uint32_t index, const FoldSeries& s);
  // The increase from one sample to the next, or a negative number: no rate.
  double Increase(const RemoteSample& from, const RemoteSample& to);
  void AddStep(uint32_t index, int64_t begin_ms, int64_t end_ms, double value);
  // Adds up the steps of all series over time.
  Sum Sweep(std::span<const FoldSeries> series, Measure measure);
  // What a counter rose in the window.
  double CountOf(const FoldSeries& s);
  // The sum over parts at one moment; negative: nothing stands.
  double SumOfParts(std::span<const FoldSeries> series, Measure measure) const;
  void AddPiece(int64_t begin_ms, int64_t end_ms, double value, Measure measure, Sum& sum);
  void AddMeasured(int64_t ms, double value, Measure measure, Sum& sum);
  // Of the task whose steps were added: young_, in whole steps.
  void FindYoung(std::span<const FoldSeries> series);
  void NoteStart(uint32_t task, const Sum& rest);
  // The owner's limit or request of the task: kAbsent unless each part in `used` has one.
  float TaskLimit(std::span<const FoldSeries> series, SeriesKind kind) const;
  // The job's are those of its tasks, and now of this one.
  void AddAmounts(std::span<const FoldSeries> series, Measure measure);

  const FoldOptions options_;
  int64_t begin_ms_ = 0, end_ms_ = 0, startup_ms_ = 0;
  std::optional<TaskStart> start_;
  float cpu_limit_ = kAbsent, memory_limit_ = kAbsent;
  OwnerRequests requests_;
  FoldEvents events_;
  // Scratch.
  std::vector<Step> steps_;
  std::vector<StartSpan> young_;  // in which CPU is kept apart
  Sum young_sum_;
  std::vector<double> current_;
  bool needs_all_ = false;  // some part is subtracted: nothing stands unless all do
  std::vector<uint32_t> used_parts_;
  int64_t cpu_ms_[Grid::kMaxBuckets] = {};
  Bucket lowest_ = Grid::kMaxBuckets, highest_ = 0;  // of what cpu_ms_ holds
};

}  // namespace taut::server
