// Computes the CPU time that a thread must still use to reach its target on average, however late the thread
// wakes up.
#pragma once

#include <algorithm>
#include <cstdint>

namespace taut::tools {

// CPU time that one thread owes, in microseconds. Not thread-safe.
class CpuDebt {
 public:
  // Debt above `most_us` is dropped: a load that was throttled must not catch up for hours afterwards.
  explicit CpuDebt(int64_t most_us) : most_us_(static_cast<double>(most_us)) {}

  // Adds the debt for using `share` of a core during `elapsed_us`. Returns the CPU time to use now, in
  // microseconds; 0 if the thread has already used more.
  int64_t Owe(double share, int64_t elapsed_us) {
    owed_us_ = std::min(most_us_, owed_us_ + share * static_cast<double>(elapsed_us));
    return std::max<int64_t>(0, static_cast<int64_t>(owed_us_));
  }
  // Subtracts CPU time that the thread has used.
  void Used(int64_t cpu_us) { owed_us_ -= static_cast<double>(cpu_us); }

 private:
  double most_us_;
  double owed_us_ = 0;
};

// Returns the share of a core for thread `index`, if `cores` are spread evenly over as few threads as
// possible.
inline double ShareOfThread(double cores, int index) {
  // 1e-9: a rounding error in 2.0 must not add a third thread.
  const int threads = static_cast<int>(cores - 1e-9) + 1;
  return index < threads && cores > 0 ? cores / threads : 0;
}

}  // namespace taut::tools
