// Jobs that appeared after the cell did: which of them lack their past, and how it is stored.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/control/checkpointer.h"
#include "server/control/committer.h"
#include "server/control/late_jobs.h"
#include "server/control/shared_fleet.h"
#include "server/store/store.h"

namespace taut::server {

// Any thread; AddPasts and SettlePasts wait for the right to decide.
class LatePasts {
 public:
  // All must outlive it.
  struct Parts {
    History& history;
    SharedFleet& fleet;
    SharedStatus& status;
    Committer& committer;
    Checkpointer& checkpointer;
  };
  explicit LatePasts(const Parts& parts);

  // Measured jobs first seen in [from, settled) whose past was not asked for, by name.
  std::vector<LateJob> LateJobs(Timestamp from, Timestamp settled) const;
  // Known jobs, for what is missing before `until`.
  std::vector<LateJob> AllJobs(WindowId until) const;
  // What a source of history has of jobs; those of jobs forgotten meanwhile are dropped. All or nothing is
  // stored; jobs with a past learn from all that is stored of them. Nothing is decided by it.
  absl::Status AddPasts(std::vector<JobPast> pasts);
  // All history before now was read: the past of the jobs known now is not requested.
  absl::Status SettlePasts();
  // Of known jobs; those first seen before `from` only if they were asked for.
  LateJobCounts counts(Timestamp from) const;

  // After a restart.
  absl::Status Restore(Store& store);

 private:
  std::optional<PastState> StateOf(JobId id) const;  // REQUIRES mutex_
  void Note(std::span<const JobPast> stored);

  const Parts parts_;
  mutable std::mutex mutex_;                         // taken after the lock of the fleet
  absl::flat_hash_map<uint32_t, PastState> states_;  // by job, as stored
};

}  // namespace taut::server
