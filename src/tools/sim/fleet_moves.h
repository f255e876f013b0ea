// What the loads of all jobs of a replay had shown by the beginning of each day: what tautd knows of its fleet.
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
  // Of decisions every `decide_every_s` (rounded up to steps of each series), for tasks that take `startup_s`
  // to start. O(steps).
  FleetMoves(std::span<const LoadSeries> loads, int64_t decide_every_s, double startup_s);

  // Of the days (UTC) before that of `time_s`, each half after two weeks; null: there are none.
  const brain::LoadAnalogs* At(int64_t time_s) const;

 private:
  int64_t first_day_ = 0;
  std::vector<brain::LoadAnalogs> days_;  // from first_day_ on, each as known at its beginning
};

}  // namespace taut::tools
