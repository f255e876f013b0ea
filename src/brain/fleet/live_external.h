// Data of a window for an external recommender, and the recommender's answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "brain/fleet/vertical_pass.h"
#include "common/model/external.h"

namespace taut::brain {

// Connects external recommenders to the fleet. Not thread-safe.
class LiveExternal {
 public:
  LiveExternal(FleetState& state, VerticalPass& pass, ReplicaPass& replicas)
      : s_(state), pass_(pass), replicas_(replicas) {}

  // Appends the data of each job in closed.jobs[first, last) that uses an external recommender. Call after
  // Decide.
  void Jobs(const ClosedWindow& closed, size_t first, size_t last, std::vector<ExternalJob>& out) const;
  // Uses an answer immediately and makes a decision. Returns false if the job is unknown, does not use an external
  // recommender, or needs history. Also returns false if no window was closed yet.
  bool Take(const ExternalAnswer& answer, int64_t now_s, PassOutput& out);

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
};

}  // namespace taut::brain
