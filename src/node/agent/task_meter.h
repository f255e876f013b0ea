// Aggregates readings of one task, about one reading per second, into 5-minute windows. Arithmetic only: time
// is an argument.
//
// There are two clocks. `steady_us` never jumps; rates are computed from this clock. `at` is the node's own
// time, which names windows and may jump. On a sped-up node (demonstrations, tests) `at` runs faster than
// steady time by `speed`.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "common/base/time.h"
#include "common/histogram/grid.h"
#include "common/histogram/window_histogram.h"
#include "common/model/usage.h"
#include "node/agent/task_group.h"

namespace taut::node {

// The time at which a window ends (exclusive).
inline Timestamp EndOf(WindowId window) { return Timestamp::FromSeconds(window.next().start_s()); }

struct MeterOptions {
  double speed = 1;                 // seconds of node time per second of steady time
  int64_t max_gap_us = 15'000'000;  // steady time; no rate is computed over a longer gap
  // Steady time. A reading within this time after the last reading adds to no window: the kernel counts in ticks
  // of some milliseconds, so a short interval would show a false peak. The next reading also covers the time of
  // the skipped reading.
  int64_t min_gap_us = 100'000;
  double max_cores = 1048.576;  // higher rates are discarded as implausible
};

// Figures of one task in one window that has ended.
struct NodeWindow {
  WindowId window;
  TaskWindow figures;                     // the member task is 0
  std::vector<BucketWeight> cpu_buckets;  // seconds of node time at each bucket, ascending
  // Counts in this window; absent if the kernel does not count them.
  std::optional<uint64_t> cpu_periods, cpu_throttled_periods;
};

struct MeterCounts {
  uint64_t resets = 0;       // number of readings with a decreased counter, which then counts from 0
  uint64_t gaps = 0;         // number of intervals without a rate, because the last reading was too long ago
  uint64_t implausible = 0;  // number of intervals without a rate, because the rate was above max_cores
  uint64_t jumps = 0;        // number of divergences of the two clocks by more than 2 s (times speed)
};

// Not thread-safe. Uses about 400 bytes, and 8 bytes per bucket. Add is O(windows in the interval + buckets).
class TaskMeter {
 public:
  explicit TaskMeter(const MeterOptions& options) : options_(options) {}

  // Adds a reading. A rate covers the time since the last reading and is split at window borders. The working set
  // (memory_bytes if the working set is unknown) is split in the same way. After a jump of node time the interval
  // counts, with its steady length, in the window of `at`. Time in windows that have already ended is not counted.
  // REQUIRES: steady_us ascending.
  void Add(const TaskReading& reading, int64_t steady_us, Timestamp at);
  // Ends all windows that are over at `at` and appends the windows with usage to `out`, ascending. A window
  // is over when a later reading exists, or when the next reading would be too late to cover part of the
  // window. Call it once per reading, after Add, or before Add (windows then appear one reading later).
  void CloseUntil(Timestamp at, std::vector<NodeWindow>& out);
  // Ends all windows, also the open window with the figures measured so far, and appends them to `out`.
  // Called when the agent stops.
  void CloseAll(std::vector<NodeWindow>& out);

  // Values of the last reading; absent if unknown.
  std::optional<double> cpu_cores() const { return cores_; }
  std::optional<double> memory_bytes() const { return memory_; }
  const MeterCounts& counts() const { return counts_; }
  // Returns the oldest window with measurements that was not returned yet, whether or not it has ended.
  std::optional<WindowId> oldest_open() const {
    return open_.empty() ? std::nullopt : std::optional(open_.front().window);
  }

  size_t state_bytes() const;

 private:
  struct Mark {
    int64_t steady_us;
    Timestamp at;
  };
  // A counter's last reading.
  struct Counter {
    uint64_t value;
    Mark mark;
  };
  // A window that has not ended, or has not been returned yet.
  struct Open {
    explicit Open(WindowId id) : window(id) {}
    WindowId window;
    float cpu_peak_cores = 0, memory_peak_bytes = 0;
    double cpu_s = 0, cpu_core_s = 0, memory_s = 0, memory_byte_s = 0;  // sums over time, by node time
    WindowHistogram cpu{Grid::Cpu()};
    std::optional<uint64_t> periods, throttled;
  };

  bool Jumped(const Mark& from, const Mark& to) const;
  // Calls fn(window, its share of the interval), ascending; the shares add up to 1.
  template <typename Fn>
  void ForEachWindow(const Mark& from, const Mark& to, Fn&& fn) const;
  double NodeSeconds(const Mark& from, const Mark& to) const;
  bool TooLong(const Mark& from, const Mark& to) const;
  Open& OpenAt(WindowId window);  // REQUIRES: window >= first_
  void AddMemory(const Mark& now);
  // Return true if the counter decreased.
  bool AddCpu(const TaskReading& reading, const Mark& now);
  bool AddCount(std::optional<uint64_t> value, std::optional<Counter>& counter, const Mark& now,
                std::optional<uint64_t> Open::*count);
  // Ends the newest window if a reading at `at` could not add to this window.
  void EndLate(Timestamp at);
  static NodeWindow Finish(const Open& open);

  MeterOptions options_;
  MeterCounts counts_;
  std::optional<Mark> last_;  // the last reading that was counted
  std::optional<Counter> usage_, periods_, throttled_;
  std::optional<double> cores_, memory_;
  WindowId first_{std::numeric_limits<int32_t>::min()};  // all windows before it have ended
  std::vector<Open> open_;                               // open windows, ascending
};

}  // namespace taut::node
