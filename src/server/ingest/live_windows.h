// Samples of live series to closed 5-minute windows of jobs.
//
// What arrived is kept, per series and in time order, until its window closes; only then rates are taken and
// tasks added up. So the windows do not depend on how samples were split over requests or in what order they
// came, as long as they came before their window closed.
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

// Every sample ends in exactly one of these. docs/operate/health.md, "Sample outcomes", says what each means.
struct IngestCounts {
  uint64_t accepted = 0;       // in time order
  uint64_t out_of_order = 0;   // accepted, though behind a later sample of its series
  uint64_t stale_markers = 0;  // accepted: the series ends here
  uint64_t duplicates = 0;     // dropped: that time and value were there
  uint64_t conflicts = 0;      // that time was there with another value: the larger stays
  uint64_t nan = 0;            // dropped: NaN other than the stale marker
  uint64_t invalid = 0;        // dropped: infinite or negative
  uint64_t far_future = 0;     // dropped
  uint64_t too_late = 0;       // dropped: its window is closed
  uint64_t over_capacity = 0;  // dropped: too many samples of one series in the open windows
  uint64_t unmapped = 0;       // no rule wants the series
  uint64_t facts = 0;          // said who owns whom
  uint64_t refused = 0;        // of series over a limit, or with an unusable name
  uint64_t histograms = 0;     // native histograms: no rule reads them

  uint64_t total() const;
  // Those that windows wait for.
  uint64_t kept() const { return accepted + out_of_order + stale_markers + conflicts + facts; }
  auto operator<=>(const IngestCounts&) const = default;
};

// What was met while windows were closed.
struct FoldCounts {
  uint64_t windows = 0, job_windows = 0, task_windows = 0;
  uint64_t partial_windows = 0;  // of which samples were lost: what is left of them does not count
  FoldEvents events;
};

// A memory limit of a job, and tasks of it that will pass theirs.
struct JobLimit {
  JobId job;
  double bytes = 0;
};
struct GrowthSighting {
  JobId job;
  double bytes =
      0;  // that its largest task has when the next window closes, if it grows on as in the last 2 minutes
};

// Not thread-safe. 24 bytes a slot and 16 a sample of the open windows, at most max_samples_per_series of
// them.
class LiveWindows {
 public:
  struct Options {
    // A window closes when the watermark is this far behind its end.
    int64_t grace_seconds = 120;
    // Samples further ahead than this of `now` are dropped.
    int64_t max_future_seconds = 600;
    // Where time is the samples': they are compared with the newest accepted one, not only with `now`.
    bool time_is_samples = false;
    uint32_t max_samples_per_series = 1024;
    FoldOptions fold;
    // Windows before this one count as closed from the start.
    WindowId first_open{INT32_MIN / 2};
    // Called for each task that was measured, in the order of ClosedWindow::tasks and before its window is
    // handed out: how long it used how much CPU, ascending; none: no CPU was measured. Then windows have no
    // buckets of their jobs.
    std::function<void(uint32_t task, std::span<const BucketWeight> cpu)> on_task_cpu;
  };
  // `counts` must outlive it.
  LiveWindows(const Options& options, IngestCounts& counts);

  // The count of samples dropped for the reason that this one will be, wherever it belongs; nullptr if it
  // will be taken in.
  uint64_t IngestCounts::*Refusal(const RemoteSample& sample, Timestamp now) const;
  // The same for a window that is folded already.
  uint64_t IngestCounts::*Refusal(WindowId window, Timestamp now) const;
  // Takes in one sample of a mapped series. `now` is the newest clock there is. Counted. O(1) in time order.
  void Add(uint32_t slot, SeriesKind kind, const RemoteSample& sample, Timestamp now);
  // A window that is folded already. A task with such a window needs no series: those of the same task do not
  // count in it. Two of one task and window (an agent that was restarted in it) are added up. Counted as one
  // sample; false if it was dropped, because that window is closed or of the far future.
  bool AddWindow(uint32_t slot, ReportedWindow window, Timestamp now);
  OomSightings& ooms() { return ooms_; }

  // What the kernel keeps of tasks' memory, since the last call (KernelPeaks).
  std::vector<KernelPeak> TakeKernelPeaks(const SeriesMapper& mapper) { return peaks_.TakeRisen(mapper); }

  // The jobs of which a task, by a line through its last two minutes, passes its limit within a window. `limits`:
  // ascending by job. O(series of these jobs).
  std::vector<GrowthSighting> FindGrowth(std::span<const JobLimit> limits, Timestamp now,
                                         const SeriesMapper& mapper);

  // By task, the memory limits of a job's tasks by the newest samples of their parts, added up, in bytes. Tasks of
  // which a part has none are not in it.
  using TaskLimitsOfJob = std::vector<std::pair<uint32_t, double>>;
  // In the order of `jobs`. O(slots), once for all.
  std::vector<TaskLimitsOfJob> MemoryLimits(std::span<const JobId> jobs, const SeriesMapper& mapper) const;

  // Closes, in time order, every window whose end + grace <= watermark and calls yield for those that have
  // anything; what yield does not take is dropped. A watermark that goes back closes nothing. Bindings are
  // those of now: a series whose job changed has changed it for the whole window. About 0.5 us a series and
  // window.
  void CloseUntil(Timestamp watermark, const SeriesMapper& mapper,
                  absl::FunctionRef<void(ClosedWindow&&)> yield);

  // Windows before this one are closed already, elsewhere. What came of them stays as the baseline of
  // counters.
  void StartAt(WindowId first_open);
  // Where time is the samples': `newest` turned out to be wrong; what is held of later times is dropped.
  // Windows before `first_open` stay closed.
  void GoBack(Timestamp newest, WindowId first_open);
  // Samples of [begin, end) may have been lost. A window of which more than half is in it, and of that part
  // no sample has come by the time it closes, does not count what series say of the rest.
  void NotHeard(Timestamp begin, Timestamp end) { unheard_ = {MillisOf(begin), MillisOf(end)}; }

  // By the number of a job the seconds after a task's start in which its CPU usage is kept apart, of jobs that ask
  // for it. Windows that close from now on.
  void SetStartups(absl::flat_hash_map<uint32_t, int32_t> seconds) { startups_ = std::move(seconds); }

  // Forgets what these slots hold. Call with what SeriesMapper::ForgetIdle returned.
  void Drop(std::span<const uint32_t> slots);

  // The first window that is still open.
  WindowId first_open() const { return {static_cast<int32_t>(FloorDiv(open_from_ms_, kWindowMs))}; }
  // The newest sample taken in; INT64_MIN microseconds before the first.
  Timestamp newest_sample() const { return {newest_ms_ == INT64_MIN ? INT64_MIN : newest_ms_ * 1000}; }
  // The same of samples of series, without the windows that were folded elsewhere.
  Timestamp newest_of_series() const {
    return {newest_of_series_ms_ == INT64_MIN ? INT64_MIN : newest_of_series_ms_ * 1000};
  }
  const FoldCounts& fold_counts() const { return fold_counts_; }
  // Of all series, the one before the open windows included.
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
  // Whether samples of the window are known to be lost.
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
  // Adds a task to the job that is folded: of an agent, as its window says, or by its series.
  void AddReported(uint32_t task, const ReportedWindow& reported, std::span<const FoldSeries> series,
                   ClosedWindow& closed);
  void AddMeasured(uint32_t task, std::span<const FoldSeries> series, ClosedWindow& closed);
  ClosedWindow Fold(int64_t begin_ms, const SeriesMapper& mapper);
  // Folds the slots of order_ from `at` on that are of one job, and adds it to the window; returns where the next
  // job's slots begin.
  size_t FoldJob(size_t at, bool partial, const SeriesMapper& mapper, ClosedWindow& closed);
  // The same of one task: sorts its series, and adds it.
  size_t FoldTask(size_t at, bool partial, const SeriesMapper& mapper, ClosedWindow& closed);
  void Trim(int64_t end_ms);

  const Options options_;
  IngestCounts& counts_;
  FoldCounts fold_counts_;
  int64_t open_from_ms_;
  int64_t newest_ms_ = INT64_MIN, newest_of_series_ms_ = INT64_MIN;
  uint64_t waiting_samples_ = 0;
  Interval unheard_;
  // By slot, times strictly ascending. At most one sample is older than open_from_ms_: the one before, from
  // which a counter's next rate counts.
  std::vector<std::vector<RemoteSample>> samples_;
  std::vector<std::vector<ReportedWindow>> reported_;  // by slot, windows ascending, open ones only
  OomSightings ooms_;
  KernelPeaks peaks_;
  absl::flat_hash_map<uint32_t, int32_t> startups_;

  std::vector<uint32_t> order_;  // mapped slots by job, task, kind, part
  uint64_t order_version_ = UINT64_MAX;
  size_t jobs_before_ = 0, tasks_before_ = 0;  // in the window closed last
  WindowFold fold_;
  // Scratch of Fold: series of the task at hand, and those of its job that are no usage.
  std::vector<FoldSeries> series_, loads_, signals_;
  bool left_out_ = false;  // samples of a partial window
};

}  // namespace taut::server
