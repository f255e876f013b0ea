// Finds jobs that lack their history from before they appeared, and stores it.
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

// Thread-safe. AddPasts and SettlePasts wait for Committer::writer().
class LatePasts {
 public:
  // All must outlive this object.
  struct Parts {
    History& history;
    SharedFleet& fleet;
    SharedStatus& status;
    Committer& committer;
    Checkpointer& checkpointer;
  };
  explicit LatePasts(const Parts& parts);

  // Returns the measured jobs first seen in [from, settled) whose history was not requested, by name.
  // O(jobs).
  std::vector<LateJob> LateJobs(Timestamp from, Timestamp settled) const;
  // Returns all known jobs, for history that is missing before `until`. O(jobs).
  std::vector<LateJob> AllJobs(WindowId until) const;
  // Stores the history of jobs, all or nothing, and skips jobs forgotten meanwhile. Jobs with usage in it are
  // retrained later from all that is stored; no decision is made. Returns the store's error;
  // FailedPrecondition before the first stored window.
  absl::Status AddPasts(std::vector<JobPast> pasts);
  // Notes that all history before now was read: the history of the jobs known now is not requested.
  absl::Status SettlePasts();
  // Counts the known jobs by state. Jobs first seen before `from` count only if their history was requested.
  // O(jobs).
  LateJobCounts counts(Timestamp from) const;

  // Loads the states after a restart.
  absl::Status Restore(Store& store);

 private:
  std::optional<PastState> StateOf(JobId id) const;  // REQUIRES mutex_
  void Note(std::span<const JobPast> stored);

  const Parts parts_;
  mutable std::mutex mutex_;                         // locked after the fleet
  absl::flat_hash_map<uint32_t, PastState> states_;  // by job, as stored
};

}  // namespace taut::server
