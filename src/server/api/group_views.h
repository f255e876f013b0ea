// The fleet as callers see it who are bound to groups: only their own jobs, and sums over these.
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

// The jobs of `view` that the reach has, and the sums over those that were measured in the last window. What is
// learnt from the whole fleet (FleetSums::risk) is left out, and so are the counts of the last day. O(jobs).
std::shared_ptr<const FleetView> ViewWithin(const Reach& reach, const FleetView& view);

// Keeps the views of the newest window, so that each is made once. Thread-safe.
class GroupViews {
 public:
  // `view` itself for a reach over everything.
  std::shared_ptr<const FleetView> Of(const Reach& reach, const std::shared_ptr<const FleetView>& view);

 private:
  // More callers of different groups than these make theirs anew.
  static constexpr size_t kMostKept = 64;

  std::mutex mutex_;
  std::shared_ptr<const FleetView> of_;
  std::vector<std::pair<Reach, std::shared_ptr<const FleetView>>> kept_;
};

}  // namespace taut::server
