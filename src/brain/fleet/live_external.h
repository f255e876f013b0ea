// What an external recommender is given of a window, and its answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "brain/fleet/vertical_pass.h"
#include "common/model/external.h"

namespace taut::brain {

class LiveExternal {
 public:
  LiveExternal(FleetState& state, VerticalPass& pass, ReplicaPass& replicas)
      : s_(state), pass_(pass), replicas_(replicas) {}

  // After Decide: appends what it is given of each of these jobs that asks for it.
  void Jobs(const ClosedWindow& closed, size_t first, size_t last, std::vector<ExternalJob>& out) const;
  // An answer, at once. False: it is not taken, as the job is gone or does not ask for it (any more), or its
  // recommenders wait for their history.
  bool Take(const ExternalAnswer& answer, int64_t now_s, PassOutput& out);

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
};

}  // namespace taut::brain
