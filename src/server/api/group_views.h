// Views of the fleet for callers bound to groups: only their own jobs, and sums over these.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/api/reach.h"
#include "server/control/fleet_view.h"

namespace taut::server {

// Returns the jobs of `view` in reach, and the sums over those measured in the last window. Figures learned
// from the whole fleet (FleetSums::risk) and the counts of the last day are left out. O(jobs).
std::shared_ptr<const FleetView> ViewWithin(const Reach& reach, const FleetView& view);

// Caches the views of the newest window, so that each is made once. Thread-safe.
class GroupViews {
 public:
  // Returns `view` itself for a reach over everything.
  std::shared_ptr<const FleetView> Of(const Reach& reach, const std::shared_ptr<const FleetView>& view);

 private:
  // Bound of cached views; further callers' views are made for each request.
  static constexpr size_t kMostKept = 64;

  std::mutex mutex_;
  std::shared_ptr<const FleetView> of_;
  std::vector<std::pair<Reach, std::shared_ptr<const FleetView>>> kept_;
};

}  // namespace taut::server
