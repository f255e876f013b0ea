// Learns for how long the tasks of a job are idle, and decides from that how long an idle task is kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "brain/replicas/stored_values.h"
#include "common/base/bytes.h"

namespace taut::brain {

// Task number n is idle while fewer than n tasks are wanted. A run has the tasks that became idle at the same
// step. Not thread-safe.
class IdleRuns {
 public:
  IdleRuns();

  // Adds the number of wanted tasks at `step`. Steps must not descend. `usual` is the usual number of tasks.
  void Observe(int64_t step, int wanted, double usual);
  // Returns the number of tasks to keep of `current` tasks, at least the wanted number, if a start costs as much
  // as `price` steps of an idle task. An idle task stops after the time with the least mean cost of waiting and
  // starts.
  int Keep(int current, double price) const;

  void Save(ByteWriter& out) const;
  void Load(StoredValues& in);

 private:
  // Bins of durations, two per doubling from one step on. The last bin, from about 600 steps, has no upper bound.
  static constexpr size_t kBins = 20;
  // Situations in which a run begins: three ranges of the number of tasks, with and without a fall before the run.
  static constexpr size_t kSituations = 6;
  static constexpr size_t kMostRuns = 24;
  using Durations = std::array<float, kBins>;
  struct Run {
    int64_t since = 0;
    int top = 0;  // highest task of the run; its lowest task is above the next run's top, or above wanted_
    uint8_t situation = 0;
  };
  // Adds the durations of `tasks` tasks of a run that ends.
  void End(const Run& run, int tasks, int64_t step);
  void DropOldest();
  double StepsToKeep(size_t situation, double price) const;

  // The members of every step are adjacent, because the cache misses of 100,000 jobs cost most of a pass.
  int64_t step_ = 0;
  double recent_ = 0;  // mean of wanted_ over about 10 steps; 0: nothing was observed
  int wanted_ = 0;
  uint8_t size_ = 0;
  std::array<Run, kMostRuns> runs_{};             // by descending top
  std::array<Durations, kSituations> durations_;  // decayed numbers of idle tasks, relative to recent_
};

}  // namespace taut::brain
