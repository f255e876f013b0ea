// Processes the stored history of jobs with new recommenders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "brain/fleet/replica_pass.h"
#include "brain/fleet/signal_builder.h"
#include "brain/fleet/stored_history.h"

namespace taut::brain {

// Retrains lanes from history. Not thread-safe.
class LiveHistory {
 public:
  LiveHistory(FleetState& state, ReplicaPass& replicas) : s_(state), replicas_(replicas) {}

  // Returns at most `limit` jobs with needs_history. `cursor`: see FindJobsFrom.
  std::vector<JobId> Wanted(size_t limit, uint32_t& cursor) const;
  // Sets needs_history for a job whose lanes have learnt nothing although the store has data of the job; no
  // effect for an unknown job.
  void Want(JobId id);
  // Sets needs_history and `lost` for the jobs of a chunk whose checkpoint is missing. The end of the restore
  // clears `lost`.
  void WantOfChunk(uint32_t chunk);
  // Replaces lanes by new lanes that have processed `days`, the job's OOM kills and its decisions, each list
  // ascending. Replaces the lanes with needs_history; if no lane has needs_history, replaces all lanes. No day
  // counts twice, because the lanes are new. REQUIRES: the job exists. Costs a replay of the days.
  void Retrain(JobId id, std::span<const JobDay> days, std::span<const OomRecord> ooms,
               std::span<const Decision> decisions = {});

 private:
  // Returns a new lane after it has processed the history.
  Lane Relived(const LiveJob& job, const StoredHistory& history);

  FleetState& s_;
  ReplicaPass& replicas_;
  DaySignals signals_;  // scratch memory, reused between calls
};

}  // namespace taut::brain
