// Jobs whose recommenders are new: they process the days that are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "brain/fleet/replica_pass.h"
#include "brain/fleet/signal_builder.h"
#include "brain/fleet/stored_history.h"

namespace taut::brain {

class LiveHistory {
 public:
  LiveHistory(FleetState& state, ReplicaPass& replicas) : s_(state), replicas_(replicas) {}

  // At most `limit` jobs whose recommenders are new and have to process the stored history. `cursor` as
  // FindJobsFrom has it.
  std::vector<JobId> Wanted(size_t limit, uint32_t& cursor) const;
  // A job that the lanes know nothing of, though the store does.
  void Want(JobId id);
  // The jobs of a chunk whose checkpoint is lost: they want history, and are `lost` until the restore ends.
  void WantOfChunk(uint32_t chunk);
  // Makes the job's lanes anew and feeds them `days`, the job's OOM kills and its decisions (all ascending); where
  // only one lane needs history, the other stays as it is.
  // Days that the job's lanes have seen otherwise do not count twice: the lanes are new.
  void Retrain(JobId id, std::span<const JobDay> days, std::span<const OomRecord> ooms,
               std::span<const Decision> decisions = {});

 private:
  Lane Relived(const LiveJob& job, const StoredHistory& history);

  FleetState& s_;
  ReplicaPass& replicas_;
  DaySignals signals_;  // scratch
};

}  // namespace taut::brain
