// Readings of one task, about one a second, to 5-minute windows. Arithmetic only: time is an argument.
//
// Two clocks come in: `steady_us`, which never jumps and from which rates are taken, and `at`, the node's own
// time, which names windows and may jump. A sped-up node (demonstrations, tests) has an `at` that runs faster
// than steady time by `speed`.
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

// The time at which a window ends; it is not of the window.
inline Timestamp EndOf(WindowId window) { return Timestamp::FromSeconds(window.next().start_s()); }

struct MeterOptions {
  double speed = 1;                 // seconds of node time in a second of steady time
  int64_t max_gap_us = 15'000'000;  // steady; no rate is taken over a longer gap between two readings
  // Steady; a reading sooner after the one before adds to no window: the kernel counts in ticks of some
  // milliseconds, which would make a wild peak of a short piece. The next reading stands for its time too.
  int64_t min_gap_us = 100'000;
  double max_cores = 1048.576;  // a rate above this is none
};

// One task in one window that is over.
struct NodeWindow {
  WindowId window;
  TaskWindow figures;                     // .task is 0
  std::vector<BucketWeight> cpu_buckets;  // node seconds at each bucket, ascending
  // In this window; absent where the kernel does not count.
  std::optional<uint64_t> cpu_periods, cpu_throttled_periods;
};

struct MeterCounts {
  uint64_t resets = 0;       // a counter that fell: counted from 0 again
  uint64_t gaps = 0;         // no rate, too long since the reading before
  uint64_t implausible = 0;  // no rate, above max_cores
  uint64_t jumps = 0;        // node time and steady time went apart by more than 2 s (times speed)
};

// Not thread-safe. About 400 bytes and 8 a bucket. A step is O(windows it spans + buckets).
class TaskMeter {
 public:
  explicit TaskMeter(const MeterOptions& options) : options_(options) {}

  // A reading. A rate stands for the time since the reading before and is split at a window's border; the
  // working set (memory_bytes where the kernel does not say it) stands likewise. After a jump of node time
  // the piece counts, with its steady length, in the window of `at`. Time that goes back into windows that
  // are over counts nowhere until it is past them again. REQUIRES: steady_us ascending.
  void Add(const TaskReading& reading, int64_t steady_us, Timestamp at);
  // Ends all windows that are over at `at` and appends those with a usage in them to `out`, ascending. A
  // window is over when a reading came from after it, or when the next one is too late to stand for a part of
  // it. Call it once a reading, before (then a window comes one reading later) or after Add.
  void CloseUntil(Timestamp at, std::vector<NodeWindow>& out);
  // The same for the window now open, as when the agent stops: what is measured so far.
  void CloseAll(std::vector<NodeWindow>& out);

  // As of the last reading.
  std::optional<double> cpu_cores() const { return cores_; }
  std::optional<double> memory_bytes() const { return memory_; }
  const MeterCounts& counts() const { return counts_; }
  // The oldest window that something was measured in and that was not handed out, over or not.
  std::optional<WindowId> oldest_open() const {
    return open_.empty() ? std::nullopt : std::optional(open_.front().window);
  }

  size_t state_bytes() const;

 private:
  struct Mark {
    int64_t steady_us;
    Timestamp at;
  };
  // A counter as last read.
  struct Counter {
    uint64_t value;
    Mark mark;
  };
  // A window that is not over, or over and not yet handed out.
  struct Open {
    explicit Open(WindowId id) : window(id) {}
    WindowId window;
    float cpu_peak_cores = 0, memory_peak_bytes = 0;
    double cpu_s = 0, cpu_core_s = 0, memory_s = 0, memory_byte_s = 0;  // node seconds
    WindowHistogram cpu{Grid::Cpu()};
    std::optional<uint64_t> periods, throttled;
  };

  bool Jumped(const Mark& from, const Mark& to) const;
  // fn(window, its share of the piece), ascending; the shares' sum is 1.
  template <typename Fn>
  void ForEachWindow(const Mark& from, const Mark& to, Fn&& fn) const;
  double NodeSeconds(const Mark& from, const Mark& to) const;
  bool TooLong(const Mark& from, const Mark& to) const;
  Open& OpenAt(WindowId window);  // REQUIRES: window >= first_
  void AddMemory(const Mark& now);
  // Both: whether a counter fell.
  bool AddCpu(const TaskReading& reading, const Mark& now);
  bool AddCount(std::optional<uint64_t> value, std::optional<Counter>& counter, const Mark& now,
                std::optional<uint64_t> Open::*count);
  // Ends the newest window if a reading at `at` could not add to it.
  void EndLate(Timestamp at);
  static NodeWindow Finish(const Open& open);

  MeterOptions options_;
  MeterCounts counts_;
  std::optional<Mark> last_;  // the last reading that counted
  std::optional<Counter> usage_, periods_, throttled_;
  std::optional<double> cores_, memory_;
  WindowId first_{std::numeric_limits<int32_t>::min()};  // all before it are over
  std::vector<Open> open_;                               // ascending
};

}  // namespace taut::node
