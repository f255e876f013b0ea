// Jobs whose tasks are gone: their lanes become bytes after hours, and they are forgotten after days.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "brain/fleet/replica_pass.h"

namespace taut::brain {

class LiveDepartures {
 public:
  LiveDepartures(FleetState& state, ReplicaPass& replicas) : s_(state), replicas_(replicas) {}

  // Jobs to be forgotten, by the time without usage before the end of `now`, ascending, at most
  // `limit`. A job that was known for less than that when it was last measured is due after as long as
  // it was known, but not before a day.
  std::vector<JobId> DueToForget(WindowId now, int32_t forget_after_days, size_t limit) const;
  // The job and all that was learnt of it; settings that people made for its name are kept.
  void Forget(JobId id);

 private:
  FleetState& s_;
  ReplicaPass& replicas_;
};

// Whether nothing of the job was measured for two hours before the end of `now`.
bool IsGone(const LiveJob& job, WindowId now);
// Turns the lanes of such jobs into bytes.
void PutToSleep(WindowId now, FleetState& state);

}  // namespace taut::brain
