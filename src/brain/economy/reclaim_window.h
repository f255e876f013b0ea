// Available capacity under a reclaim latency. O(1) amortized per step, no allocation after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace taut::brain {

enum class ReclaimReading : uint8_t {
  // The lowest availability of the last reclaim_steps + 1 steps. Taking back lasts reclaim_steps, so what the
  // higher tiers ask for at t must be free of sold work from t on only if the sale never counted on it:
  // capacity counts when it has been free throughout a window. The careful reading, for a running task
  // (availability).
  kKept,
  // The highest of the window: somewhere in it the amount was free, so a buyer who waits for the reclaim
  // window gets it. For a waiting task (obtainability): "60 can be freed within 10 minutes".
  kFreed,
};

// The lowest (kKept) or highest (kFreed) of the last `steps` + 1 values. Missing values are left out; NaN
// while the newest is missing.
class ReclaimWindow {
 public:
  ReclaimWindow(int64_t steps, ReclaimReading reading)
      : steps_(steps), reading_(reading), ring_(static_cast<size_t>(steps) + 2) {}
  double Add(double available);

 private:
  struct Entry {
    int64_t step = 0;
    double value = 0;
  };
  Entry& At(int64_t i) { return ring_[static_cast<size_t>(i) % ring_.size()]; }

  int64_t steps_;
  ReclaimReading reading_;
  std::vector<Entry> ring_;  // a monotone queue [head_, tail_)
  int64_t head_ = 0, tail_ = 0, step_ = 0;
};

}  // namespace taut::brain
