// Views of the fleet for callers bound to groups: the jobs of these groups, with sums over these jobs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/control/fleet_view.h"
#include "server/pool/reach.h"

namespace taut::server {

// Returns the view of the jobs in reach, with sums over the jobs that were measured in the last window. Omits
// figures learned from the whole fleet (FleetSums::risk) and the counts of the last day. O(jobs).
std::shared_ptr<const FleetView> ViewWithin(const Reach& reach, const FleetView& view);

// Caches the views of the newest window, so that the view of each reach is computed once. Thread-safe.
class GroupViews {
 public:
  // Returns the view within the reach; `view` itself if the caller may see all jobs.
  std::shared_ptr<const FleetView> Of(const Reach& reach, const std::shared_ptr<const FleetView>& view);

 private:
  // Maximum number of cached views; the oldest view is dropped first.
  static constexpr size_t kMostKept = 64;

  std::mutex mutex_;
  std::shared_ptr<const FleetView> of_;
  std::vector<std::pair<Reach, std::shared_ptr<const FleetView>>> kept_;
};

}  // namespace taut::server
