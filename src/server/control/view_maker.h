// Makes the snapshot that lists and sums come from, after each pass.
#pragma once

#include <deque>
#include <span>

#include "server/control/shared_fleet.h"
#include "server/control/shared_status.h"

namespace taut::server {

// REQUIRES Committer::writer() for all but the constructor.
class ViewMaker {
 public:
  // Both must outlive it.
  ViewMaker(const SharedFleet& fleet, SharedStatus& status) : fleet_(fleet), status_(status) {}

  // O(jobs). `point`: of the window that was stored; null: what has changed since.
  void Refresh(const FleetPoint* point);
  // After a restart: the last day, ascending; the newest is yet to be passed to Refresh.
  void Seed(std::span<const FleetPoint> points);

 private:
  // Not before the first pass: a start does not wait for it.
  void Index(const FleetView& old, FleetView& next);
  void CountDay(const FleetPoint* point, FleetView& next);

  struct DayPoint {
    WindowId window;
    uint32_t ooms = 0, changes = 0;
  };

  const SharedFleet& fleet_;
  SharedStatus& status_;
  std::deque<DayPoint> day_points_;  // of the last 24 h
  brain::FleetRecords indexed_;      // that the view's index is of
};

}  // namespace taut::server
