// Makes the snapshot for lists and sums after each pass.
#pragma once

#include <deque>
#include <span>

#include "server/control/shared_fleet.h"
#include "server/control/shared_status.h"

namespace taut::server {

// All functions except the constructor REQUIRE Committer::writer().
class ViewMaker {
 public:
  // Both arguments must outlive this object.
  ViewMaker(const SharedFleet& fleet, SharedStatus& status) : fleet_(fleet), status_(status) {}

  // Publishes a new snapshot. `point`: fleet point of the stored window; null if only settings or decisions
  // changed. O(jobs).
  void Refresh(const FleetPoint* point);
  // Sets the last day's points after a restart, ascending. The newest point is left for Refresh.
  void Seed(std::span<const FleetPoint> points);

 private:
  // Reuses or renews the index. Skipped before the first pass, so that the index does not delay a start.
  void Index(const FleetView& old, FleetView& next);
  void CountDay(const FleetPoint* point, FleetView& next);

  struct DayPoint {
    WindowId window;
    uint32_t ooms = 0, changes = 0;
  };

  const SharedFleet& fleet_;
  SharedStatus& status_;
  std::deque<DayPoint> day_points_;  // points of the last 24 h
  brain::FleetRecords indexed_;      // the records that the index was made from
};

}  // namespace taut::server
