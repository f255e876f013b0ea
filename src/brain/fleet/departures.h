// Jobs without tasks. After two hours their lanes are packed into bytes. After some days the jobs are forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "brain/fleet/replica_pass.h"

namespace taut::brain {

// Selects and forgets departed jobs. Not thread-safe. The constructor's arguments must outlive the object.
class LiveDepartures {
 public:
  LiveDepartures(FleetState& state, ReplicaPass& replicas) : s_(state), replicas_(replicas) {}

  // Returns at most `limit` jobs to forget, ascending. A job is due once its time without usage before the end of
  // `now` exceeds the smaller of two times: forget_after_days, and the time for which the job was known. The
  // second time is at least a day, or two hours for a job that was never measured. O(jobs).
  std::vector<JobId> DueToForget(WindowId now, int32_t forget_after_days, size_t limit) const;
  // Forgets the job and its learnt state; no effect for an unknown job. Settings made by people are kept for a
  // later job of the same name.
  void Forget(JobId id);

 private:
  FleetState& s_;
  ReplicaPass& replicas_;
};

// Returns true if the job was last measured more than two hours before the end of `now`.
bool IsGone(const LiveJob& job, WindowId now);
// If IsGone returns true for a job, packs the lanes of the job into bytes. O(jobs).
void PutToSleep(WindowId now, FleetState& state);

}  // namespace taut::brain
