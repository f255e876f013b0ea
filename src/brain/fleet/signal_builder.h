// Builds the signals for recommenders from a job's day of windows, once for all recommenders.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "brain/recommend/settings.h"
#include "common/model/signal.h"

namespace taut::brain {

// Factor on a probed need. The probe is exact to 5 %, and examines only single intervals of a window.
inline constexpr double kNeedMargin = 1.1;

// Signals of one job, one resource and one day, in time order. Build can be called again: it clears the signals
// and keeps the memory. The views are valid until the next Build.
class DaySignals {
 public:
  // Builds the signals and skips windows in which the resource was not measured. With kProbe, a task's memory is
  // the lower of its usage and kNeedMargin times its probed need in the window. If the need is unknown, the
  // memory is the usage.
  void Build(const JobDay& day, Resource resource, MemorySignal of = MemorySignal::kUsage);

  std::span<const Signal> signals() const { return signals_; }
  bool empty() const { return signals_.empty(); }

 private:
  // Ranges of a signal's spans. The views are set after the last append, because the vectors may reallocate
  // while they grow.
  struct Extent {
    size_t first_task = 0, first_bucket = 0;
    size_t num_tasks = 0, num_buckets = 0;
  };
  std::vector<Signal> signals_;
  std::vector<Extent> extents_;
  std::vector<TaskUsage> tasks_;
  std::vector<BucketWeight> buckets_;
};

// Replaces `buckets` by one sample per task, in the bucket of the task's peak, ascending.
void MemoryBuckets(std::span<const TaskUsage> tasks, std::vector<BucketWeight>& buckets);

// Computes weight, mean and peak from the spans of `signal`.
void Summarise(const Grid& grid, Signal& signal);

}  // namespace taut::brain
