// Control of the CPU limit of one task between two decisions: small steps that keep the share of throttled periods
// at a target. Arithmetic only: time is an argument, and the caller writes the limit.
#pragma once

#include <cstdint>
#include <optional>

namespace taut::node {

// Times are steady time also on a sped-up node, because the kernel counts periods in real time.
struct ThrottleOptions {
  int64_t window_us = 10'000'000;  // time after which a period counts half
  uint64_t least_periods = 10;     // fewer periods are no evidence
  // A raise multiplies the limit by 1 + raise_gain * (share - target), within the two steps.
  double raise_gain = 1, least_raise = 0.05, most_raise = 0.5;
  double cut = 0.05;              // share by which one cut lowers the limit
  double cut_below = 0.5;         // a cut needs a share of at most this part of the target
  double usage_margin = 0.05;     // a cut leaves this share above the highest usage since the last change
  int64_t quiet_us = 30'000'000;  // time without a change before a cut
  int64_t most_quiet_us = 960'000'000;  // each cut that is rolled back doubles the time, up to this one
  int64_t roll_back_us = 10'000'000;    // time after a cut in which throttling rolls the cut back
};

// Bounds of the limit, in cores. REQUIRES: 0 < target < 1, 0 < low <= high.
struct ThrottleBounds {
  double target = 0;  // share of throttled periods
  double low = 0, high = 0;
};

// Counts since the last reading. An absent usage is unknown, and permits no cut.
struct ThrottleReading {
  uint64_t periods = 0, throttled = 0;
  std::optional<double> cores;
};

// Not thread-safe. Times are steady microseconds.
class ThrottleControl {
 public:
  explicit ThrottleControl(const ThrottleOptions& options) : options_(options), quiet_us_(options.quiet_us) {}

  // Adds a reading of the time in which `limit` was in force, in cores. Returns the limit to write, within the
  // bounds, or nullopt if the limit stays. A limit that the last call did not return begins a new measurement.
  std::optional<double> Step(const ThrottleReading& reading, double limit, const ThrottleBounds& bounds,
                             int64_t now_us);
  // Returns the time without a change that the next cut waits for.
  int64_t quiet_us() const { return quiet_us_; }

 private:
  void Begin(double limit, int64_t now_us);
  std::optional<double> Changed(double limit, int64_t now_us);
  std::optional<double> Cut(double limit, const ThrottleBounds& bounds, int64_t now_us);

  ThrottleOptions options_;
  int64_t quiet_us_;
  std::optional<double> limit_;           // limit that the sums are about
  std::optional<double> before_cut_;      // limit before the last cut, while the cut may be rolled back
  int64_t changed_us_ = 0, read_us_ = 0;  // times of the last change and of the last reading
  double periods_ = 0, throttled_ = 0;    // decayed sums
  double peak_ = 0;                       // highest usage since the last change
};

}  // namespace taut::node
