// Moves of the loads of all jobs of a replay, as known at the beginning of each day. In tautd this is the
// replica policies' knowledge of the fleet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/replicas/load_analogs.h"
#include "common/model/load_series.h"

namespace taut::tools {

// Immutable.
class FleetMoves {
 public:
  // Builds the moves for decisions every `decide_every_s` (rounded up to steps of each series), for tasks that
  // take `startup_s` to start. O(steps).
  FleetMoves(std::span<const LoadSeries> loads, int64_t decide_every_s, double startup_s);

  // Returns the moves of the days (UTC) before the day of `time_s`; null if there are none. A move's weight
  // halves in two weeks. The result is owned by this object.
  const brain::LoadAnalogs* At(int64_t time_s) const;

 private:
  int64_t first_day_ = 0;
  // Moves of each day from first_day_ on, as known at the day's beginning.
  std::vector<brain::LoadAnalogs> days_;
};

}  // namespace taut::tools
