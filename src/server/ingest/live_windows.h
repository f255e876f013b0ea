// Folds samples of live series into closed 5-minute windows of jobs.
//
// Samples are stored, per series and in time order, until their window closes. Rates are computed and tasks are
// added up when the window closes. Windows therefore do not depend on the order of samples or on their
// distribution over requests, if all samples arrive in time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "common/model/closed_window.h"
#include "common/model/usage.h"
#include "server/ingest/kernel_peaks.h"
#include "server/ingest/oom_sightings.h"
#include "server/ingest/remote_write.h"
#include "server/ingest/series_mapper.h"
#include "server/ingest/window_fold.h"

namespace taut::server {

// Counts of samples by outcome. Each sample is counted in exactly one field. See docs/operate/health.md,
// "Sample outcomes".
struct IngestCounts {
  uint64_t accepted = 0;       // accepted: later than all samples of the series
  uint64_t out_of_order = 0;   // accepted: a later sample of the series arrived before
  uint64_t stale_markers = 0;  // accepted: marks the end of a series
  uint64_t duplicates = 0;     // dropped: same time and value as a stored sample
  uint64_t conflicts = 0;      // accepted: same time as a stored sample; the larger value is kept
  uint64_t nan = 0;            // dropped: NaN other than the stale marker
  uint64_t invalid = 0;        // dropped: infinite or negative
  uint64_t far_future = 0;     // dropped: too far after the present
  uint64_t too_late = 0;       // dropped: its window is closed
  uint64_t over_capacity = 0;  // dropped: too many samples of one series in open windows
  uint64_t unmapped = 0;       // dropped: no rule matches the series
  uint64_t facts = 0;          // facts about pods and workloads
  uint64_t refused = 0;        // series over a limit, or with an invalid name
  uint64_t histograms = 0;     // native histograms, which no rule reads
  uint64_t own_names = 0;      // refused series that have a name of the sample log

  uint64_t total() const;
  // Returns the number of samples that were not dropped.
  uint64_t kept() const { return accepted + out_of_order + stale_markers + conflicts + facts; }
  auto operator<=>(const IngestCounts&) const = default;
};

// Counts of events that occur when windows are closed.
struct FoldCounts {
  uint64_t windows = 0, job_windows = 0, task_windows = 0;
  uint64_t partial_windows = 0;  // windows with lost samples; the rest of their samples is ignored
  FoldEvents events;
};

// A job's memory limit, bytes.
struct JobLimit {
  JobId job;
  double bytes = 0;
};
// A job with a task whose usage will pass the limit within a window.
struct GrowthSighting {
  JobId job;
  // Expected usage of the job's largest task when the next window closes, bytes, if the growth of the last 2
  // minutes continues.
  double bytes = 0;
};

// Not thread-safe. Uses 24 bytes per slot, and 16 bytes per sample of open windows. A series has at most
// max_samples_per_series samples.
class LiveWindows {
 public:
  struct Options {
    // Time by which the watermark must exceed a window's end before the window closes.
    int64_t grace_seconds = 120;
    // Samples more than max_future_seconds after `now` are dropped.
    int64_t max_future_seconds = 600;
    // True if samples define the time: `now` is then at least the newest accepted sample's time.
    bool time_is_samples = false;
    uint32_t max_samples_per_series = 1024;
    FoldOptions fold;
    // First window that is open at the start; earlier windows are closed.
    WindowId first_open{INT32_MIN / 2};
    // Called for each measured task, in the order of ClosedWindow::tasks, before the task's window is
    // yielded. `cpu`: duration per CPU bucket, ascending; empty if no CPU was measured. If this function is
    // set, windows have no CPU buckets of jobs.
    std::function<void(uint32_t task, std::span<const BucketWeight> cpu)> on_task_cpu;
  };
  // `counts` must outlive this object.
  LiveWindows(const Options& options, IngestCounts& counts);

  // Returns the counter of the reason why this sample would be dropped. Considers only the sample, not its series.
  // Returns nullptr if the sample would be accepted.
  uint64_t IngestCounts::*Refusal(const RemoteSample& sample, Timestamp now) const;
  // Returns the counter of the reason why a window of an agent would be dropped; nullptr if the window would
  // be accepted.
  uint64_t IngestCounts::*Refusal(WindowId window, Timestamp now) const;
  // Adds and counts one sample of a mapped series. `now`: the daemon's time. O(1) if the sample is the newest of
  // its series, else O(samples of the series).
  void Add(uint32_t slot, SeriesKind kind, const RemoteSample& sample, Timestamp now);
  // Adds a window that an agent folded, and counts it as one sample. A task with such a window ignores the usage
  // in its series. Merges two windows with the same task and time, which an agent sends after its restart. Returns
  // false if the window is closed or far in the future.
  bool AddWindow(uint32_t slot, ReportedWindow window, Timestamp now);
  OomSightings& ooms() { return ooms_; }

  // Returns the kernel's memory peaks since the last call (KernelPeaks).
  std::vector<KernelPeak> TakeKernelPeaks(const SeriesMapper& mapper) { return peaks_.TakeRisen(mapper); }

  // Returns the jobs with a task whose usage will pass the job's limit within a window, if the growth of the last
  // two minutes continues. `limits`: ascending by job. O(series of these jobs).
  std::vector<GrowthSighting> FindGrowth(std::span<const JobLimit> limits, Timestamp now,
                                         const SeriesMapper& mapper);

  // Memory limits of a job's tasks, bytes, by task. A task's limit is the sum of the newest limits of its
  // parts. Tasks with an unlimited part are missing.
  using TaskLimitsOfJob = std::vector<std::pair<uint32_t, double>>;
  // Returns the limits in the order of `jobs`. O(slots) for all jobs together.
  std::vector<TaskLimitsOfJob> MemoryLimits(std::span<const JobId> jobs, const SeriesMapper& mapper) const;

  // Closes every window with end + grace <= watermark, in time order, and yields the windows that are not empty. A
  // watermark before the last watermark closes nothing. Uses the present bindings: if a series has moved to
  // another job, its samples in the whole window belong to the new job. Costs about 0.5 µs per series and window.
  void CloseUntil(Timestamp watermark, const SeriesMapper& mapper,
                  absl::FunctionRef<void(ClosedWindow&&)> yield);

  // Closes the windows before `first_open`, because they are stored. Keeps each series' last sample before
  // `first_open`, for the rates of counters.
  void StartAt(WindowId first_open);
  // Sets the time back to `newest` after a wrong time: drops samples after `newest`. Windows before
  // `first_open` stay closed.
  void GoBack(Timestamp newest, WindowId first_open);
  // Announces that samples in [begin, end) may be lost. If this time covers more than half of a window, and no
  // series has a sample in the covered part, the window ignores all series.
  void NotHeard(Timestamp begin, Timestamp end) { unheard_ = {MillisOf(begin), MillisOf(end)}; }

  // Sets start-up times: by job number, the seconds after a task's start during which its CPU usage is kept
  // apart. The times apply to windows that close from now on.
  void SetStartups(absl::flat_hash_map<uint32_t, int32_t> seconds) { startups_ = std::move(seconds); }

  // Forgets these slots, which SeriesMapper::ForgetIdle has returned.
  void Drop(std::span<const uint32_t> slots);

  // Returns the first open window.
  WindowId first_open() const { return {static_cast<int32_t>(FloorDiv(open_from_ms_, kWindowMs))}; }
  // Returns the time of the newest accepted sample; INT64_MIN microseconds if no sample was accepted.
  Timestamp newest_sample() const { return {newest_ms_ == INT64_MIN ? INT64_MIN : newest_ms_ * 1000}; }
  // Returns the time of the newest accepted sample of a series, without windows of agents; INT64_MIN microseconds
  // if no sample was accepted.
  Timestamp newest_of_series() const {
    return {newest_of_series_ms_ == INT64_MIN ? INT64_MIN : newest_of_series_ms_ * 1000};
  }
  const FoldCounts& fold_counts() const { return fold_counts_; }
  // Returns the number of stored samples, including each series' last sample before the open windows.
  uint64_t waiting_samples() const { return waiting_samples_; }
  size_t state_bytes() const;

 private:
  static constexpr int64_t kWindowMs = kWindowSeconds * 1000;
  struct Interval {
    int64_t begin_ms = 0, end_ms = 0;
  };

  static int64_t MillisOf(Timestamp t) { return FloorDiv(t.us, 1000); }
  bool IsFarFuture(int64_t time_ms, Timestamp now) const {
    int64_t now_ms = MillisOf(now);
    if (options_.time_is_samples && newest_ms_ > now_ms) now_ms = newest_ms_;
    return time_ms > now_ms + options_.max_future_seconds * 1000;
  }
  // Returns true if samples of the window may be lost.
  bool IsPartial(int64_t begin_ms) const;
  void Insert(uint32_t slot, const RemoteSample& sample);
  void SortSlots(const SeriesMapper& mapper);
  int64_t EarliestOpenSample() const;
  const ReportedWindow* Reported(uint32_t slot, WindowId window) const;
  int64_t StartupMs(JobId job) const {
    if (startups_.empty()) return 0;
    const auto it = startups_.find(job.value);
    return it == startups_.end() ? 0 : int64_t{it->second} * 1000;
  }
  // AddReported adds a task to the present job from an agent's window, and AddMeasured adds a task from series.
  void AddReported(uint32_t task, const ReportedWindow& reported, std::span<const FoldSeries> series,
                   ClosedWindow& closed);
  void AddMeasured(uint32_t task, std::span<const FoldSeries> series, ClosedWindow& closed);
  ClosedWindow Fold(int64_t begin_ms, const SeriesMapper& mapper);
  // Folds the slots of one job, from order_[at] on, and adds the job to the window. Returns the index of the
  // next job.
  size_t FoldJob(size_t at, bool partial, const SeriesMapper& mapper, ClosedWindow& closed);
  // Folds the slots of one task, from order_[at] on: sorts its series by purpose, and adds the task. Returns
  // the index of the next task.
  size_t FoldTask(size_t at, bool partial, const SeriesMapper& mapper, ClosedWindow& closed);
  void Trim(int64_t end_ms);

  const Options options_;
  IngestCounts& counts_;
  FoldCounts fold_counts_;
  int64_t open_from_ms_;
  int64_t newest_ms_ = INT64_MIN, newest_of_series_ms_ = INT64_MIN;
  uint64_t waiting_samples_ = 0;
  Interval unheard_;
  // Samples by slot, times strictly ascending. At most one sample is before open_from_ms_; a counter's next rate
  // begins at this sample.
  std::vector<std::vector<RemoteSample>> samples_;
  std::vector<std::vector<ReportedWindow>> reported_;  // open windows of agents by slot, ascending
  OomSightings ooms_;
  KernelPeaks peaks_;
  absl::flat_hash_map<uint32_t, int32_t> startups_;

  std::vector<uint32_t> order_;  // mapped slots by job, task, kind, part
  uint64_t order_version_ = UINT64_MAX;
  size_t jobs_before_ = 0, tasks_before_ = 0;  // numbers of jobs and tasks in the last closed window
  WindowFold fold_;
  // Scratch of Fold: usage series of the present task, and loads and signals of its job.
  std::vector<FoldSeries> series_, loads_, signals_;
  bool left_out_ = false;  // true: samples of a partial window were ignored
};

}  // namespace taut::server
