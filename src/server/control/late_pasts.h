// Finds jobs without stored history from before they appeared, and stores their history.
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
  // All references must outlive this object.
  struct Parts {
    History& history;
    SharedFleet& fleet;
    SharedStatus& status;
    Committer& committer;
    Checkpointer& checkpointer;
  };
  explicit LatePasts(const Parts& parts);

  // Returns, ordered by name, the measured jobs first seen in [from, settled) whose history was not requested yet.
  // O(jobs).
  std::vector<LateJob> LateJobs(Timestamp from, Timestamp settled) const;
  // Returns all known jobs, to request their history before `until` for a gap. O(jobs).
  std::vector<LateJob> AllJobs(WindowId until) const;
  // Stores the history of jobs, all or nothing; skips jobs forgotten meanwhile. Jobs with usage in the
  // history are retrained later from all stored usage. No decision is made. Returns the store's error;
  // FailedPrecondition before the first stored window.
  absl::Status AddPasts(std::vector<JobPast> pasts);
  // Notes that all history before the present was read, so that the history of the known jobs is not
  // requested again. Returns the store's error.
  absl::Status SettlePasts();
  // Counts the known jobs by the state of the request for their history. Jobs first seen before `from` are
  // counted only if their history was requested. O(jobs).
  LateJobCounts counts(Timestamp from) const;

  // Loads the states of the requests after a restart.
  absl::Status Restore(Store& store);

 private:
  // Returns the state of the request for the job's history; nullopt if there is none. REQUIRES mutex_.
  std::optional<PastState> StateOf(JobId id) const;
  void Note(std::span<const JobPast> stored);

  const Parts parts_;
  mutable std::mutex mutex_;                         // lock for states_, locked after the fleet
  absl::flat_hash_map<uint32_t, PastState> states_;  // stored states by job
};

}  // namespace taut::server
