// Trains the forests of the boosted recommender in threads of their own, so that no pass waits for a training.
#pragma once

#include <cstdint>
#include <future>
#include <optional>

#include "absl/status/statusor.h"
#include "common/boosting/boosted_forest.h"
#include "common/model/resource.h"
#include "server/control/shared_fleet.h"

namespace taut::server {

// Not thread-safe: the thread that runs the passes makes all calls. The destructor waits for trainings that run.
class ForestTrainer {
 public:
  // Gives the fleet the forests that are trained, and starts each training that is due. Never waits for a
  // training: a pass that needs a forest earlier trains it itself, to the same bytes.
  void Step(SharedFleet& fleet);

 private:
  struct Running {
    int32_t day;
    std::future<absl::StatusOr<BoostedForest>> forest;
  };
  PerResource<std::optional<Running>> running_;
};

}  // namespace taut::server
