// Computes how much CPU time a thread must still use to reach its target on average, even if the thread often
// wakes up late.
#pragma once

#include <algorithm>
#include <cstdint>

namespace taut::tools {

// CPU time that one thread still has to use, in microseconds. Not thread-safe.
class CpuDebt {
 public:
  // `most_us` is the maximum debt. A thread that was throttled for hours must not catch up on all of the lost CPU
  // time.
  explicit CpuDebt(int64_t most_us) : most_us_(static_cast<double>(most_us)) {}

  // Adds the debt for using `share` of a core during `elapsed_us`. Returns the CPU time to use next, in
  // microseconds; 0 if the thread has used more than its target.
  int64_t Owe(double share, int64_t elapsed_us) {
    owed_us_ = std::min(most_us_, owed_us_ + share * static_cast<double>(elapsed_us));
    return std::max<int64_t>(0, static_cast<int64_t>(owed_us_));
  }
  // Subtracts `cpu_us` from the debt, after the thread has used this CPU time.
  void Used(int64_t cpu_us) { owed_us_ -= static_cast<double>(cpu_us); }

 private:
  double most_us_;
  double owed_us_ = 0;
};

// Returns the share of a core that thread `index` uses if `cores` are divided evenly among the fewest possible
// threads.
inline double ShareOfThread(double cores, int index) {
  // Without 1e-9, a rounding error in 2.0 would add a third thread.
  const int threads = static_cast<int>(cores - 1e-9) + 1;
  return index < threads && cores > 0 ? cores / threads : 0;
}

}  // namespace taut::tools
