// Jobs with new recommenders, which have to process the stored history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "brain/fleet/replica_pass.h"
#include "brain/fleet/signal_builder.h"
#include "brain/fleet/stored_history.h"

namespace taut::brain {

// Not thread-safe.
class LiveHistory {
 public:
  LiveHistory(FleetState& state, ReplicaPass& replicas) : s_(state), replicas_(replicas) {}

  // Returns at most `limit` jobs that need history. `cursor`: see FindJobsFrom.
  std::vector<JobId> Wanted(size_t limit, uint32_t& cursor) const;
  // Marks a job whose lanes have learnt nothing although the store has the job's history; no effect for an unknown
  // job.
  void Want(JobId id);
  // Marks the jobs of a chunk whose checkpoint is lost: the jobs need history, and are `lost` until the restore
  // ends.
  void WantOfChunk(uint32_t chunk);
  // Replaces the job's lanes that need history (all lanes, if none or all need history) by new lanes that have
  // processed `days`, the job's OOM kills and its decisions, each list ascending. No day counts twice, since the
  // lanes are new. REQUIRES: the job exists. Cost: a replay of the days.
  void Retrain(JobId id, std::span<const JobDay> days, std::span<const OomRecord> ooms,
               std::span<const Decision> decisions = {});

 private:
  // Returns a new lane that has processed the history.
  Lane Relived(const LiveJob& job, const StoredHistory& history);

  FleetState& s_;
  ReplicaPass& replicas_;
  DaySignals signals_;  // scratch
};

}  // namespace taut::brain
