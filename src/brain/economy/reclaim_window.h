// Computes the available capacity under a reclaim latency. A step is O(1) amortized. Does not allocate after
// construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace taut::brain {

enum class ReclaimReading : uint8_t {
  // The lowest availability of the last reclaim_steps + 1 steps. Reclaiming takes reclaim_steps.
  // Capacity that higher tiers need at time t must therefore be unsold for the whole window before t. This is
  // the conservative value, for a running task (availability).
  kKept,
  // The highest availability of the window. The amount was free at some time, and a buyer who waits for the
  // reclaim window receives it. For a waiting task (obtainability): "60 can be freed within 10 minutes".
  kFreed,
};

// The lowest (kKept) or highest (kFreed) of the last `steps` + 1 values. Missing values are skipped. The result
// is NaN while the newest value is missing.
class ReclaimWindow {
 public:
  ReclaimWindow(int64_t steps, ReclaimReading reading)
      : steps_(steps), reading_(reading), ring_(static_cast<size_t>(steps) + 2) {}
  // Adds the next step's availability; NaN if missing. Returns the result for the window that ends with this
  // step.
  double Add(double available);

 private:
  struct Entry {
    int64_t step = 0;
    double value = 0;
  };
  Entry& At(int64_t i) { return ring_[static_cast<size_t>(i) % ring_.size()]; }

  int64_t steps_;
  ReclaimReading reading_;
  std::vector<Entry> ring_;  // monotone queue [head_, tail_)
  int64_t head_ = 0, tail_ = 0, step_ = 0;
};

}  // namespace taut::brain
