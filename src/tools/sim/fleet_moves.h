// Load changes of all jobs of a replay, as known at the beginning of each day. tautd's replica policies learn from
// the same data about the fleet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/replicas/load_analogs.h"
#include "common/model/load_series.h"

namespace taut::tools {

// A move is the pair of a job's loads at a decision and one start-up time before. Immutable.
class FleetMoves {
 public:
  // Computes the moves for decisions every `decide_every_s` seconds, rounded up to steps of each series, and tasks
  // that start within `startup_s`. O(steps).
  FleetMoves(std::span<const LoadSeries> loads, int64_t decide_every_s, double startup_s);

  // Returns the moves of the days (UTC) before the day of `time_s`; null if there are no moves. A move's weight
  // halves every two weeks. This object owns the result.
  const brain::LoadAnalogs* At(int64_t time_s) const;

 private:
  int64_t first_day_ = 0;
  // Known moves at the beginning of each day, from first_day_ on.
  std::vector<brain::LoadAnalogs> days_;
};

}  // namespace taut::tools
