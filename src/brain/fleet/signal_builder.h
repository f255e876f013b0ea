// Turns a job's day of windows into the signals that recommenders see, once for all of them.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "brain/recommend/settings.h"
#include "common/model/signal.h"

namespace taut::brain {

// Of what was probed, a tenth more is taken: the probe finds a need to within 5 % and looks at single intervals.
inline constexpr double kNeedMargin = 1.1;

// The signals of one job, one resource and one day, in time order. Reusable: Build clears and keeps its
// memory. The views stay good until the next Build.
class DaySignals {
 public:
  // Windows in which the resource was not measured are left out. With kProbe a task's memory is the lower of its
  // usage and kNeedMargin times what it needed in that window; where that is not known it is its usage. What other
  // tasks or windows needed does not count for it.
  void Build(const JobDay& day, Resource resource, MemorySignal of = MemorySignal::kUsage);

  std::span<const Signal> signals() const { return signals_; }
  bool empty() const { return signals_.empty(); }

 private:
  // Where a signal's spans begin: the vectors may move while they grow, so the views are set last.
  struct Extent {
    size_t first_task = 0, first_bucket = 0;
    size_t num_tasks = 0, num_buckets = 0;
  };
  std::vector<Signal> signals_;
  std::vector<Extent> extents_;
  std::vector<TaskUsage> tasks_;
  std::vector<BucketWeight> buckets_;
};

// Fills `buckets` with one sample per task at the bucket of its peak, ascending. Clears it first.
void MemoryBuckets(std::span<const TaskUsage> tasks, std::vector<BucketWeight>& buckets);

// Sets weight, mean and peak from the spans that `signal` views.
void Summarise(const Grid& grid, Signal& signal);

}  // namespace taut::brain
