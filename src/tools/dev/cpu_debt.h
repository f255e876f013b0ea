// How much CPU time a thread still has to use so that it uses what is wanted on average, however late it is
// woken.
#pragma once

#include <algorithm>
#include <cstdint>

namespace taut::tools {

// One thread's. Microseconds.
class CpuDebt {
 public:
  // What is owed above `most_us` is forgotten: a load that was throttled does not catch up for hours after.
  explicit CpuDebt(int64_t most_us) : most_us_(static_cast<double>(most_us)) {}

  // A share of a core was requested for this time. Returns what to use now, 0 if more was used already.
  int64_t Owe(double share, int64_t elapsed_us) {
    owed_us_ = std::min(most_us_, owed_us_ + share * static_cast<double>(elapsed_us));
    return std::max<int64_t>(0, static_cast<int64_t>(owed_us_));
  }
  void Used(int64_t cpu_us) { owed_us_ -= static_cast<double>(cpu_us); }

 private:
  double most_us_;
  double owed_us_ = 0;
};

// The share of a core of thread `index` when `cores` are wanted of as few threads as there can be, each with
// the same share.
inline double ShareOfThread(double cores, int index) {
  // Not one thread more for what rounding made of 2.0.
  const int threads = static_cast<int>(cores - 1e-9) + 1;
  return index < threads && cores > 0 ? cores / threads : 0;
}

}  // namespace taut::tools
