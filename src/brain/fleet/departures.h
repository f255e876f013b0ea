// Jobs without tasks: after two hours their lanes are packed into bytes, and after days the jobs are
// forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "brain/fleet/replica_pass.h"

namespace taut::brain {

// Not thread-safe. The references must outlive it.
class LiveDepartures {
 public:
  LiveDepartures(FleetState& state, ReplicaPass& replicas) : s_(state), replicas_(replicas) {}

  // Returns at most `limit` jobs to forget, ascending. A job is due once its time without usage before the
  // end of `now` exceeds forget_after_days, or the time for which it was known, whichever is less. That known
  // time counts as at least a day, or two hours for a job that was never measured. O(jobs).
  std::vector<JobId> DueToForget(WindowId now, int32_t forget_after_days, size_t limit) const;
  // Forgets the job and everything learnt about it; no effect for an unknown job. Settings that people made
  // stay for a new job of this name.
  void Forget(JobId id);

 private:
  FleetState& s_;
  ReplicaPass& replicas_;
};

// Returns whether the job was not measured for more than two hours before the end of `now`.
bool IsGone(const LiveJob& job, WindowId now);
// Packs the lanes of such jobs into bytes. O(jobs).
void PutToSleep(WindowId now, FleetState& state);

}  // namespace taut::brain
