// Settings of a job's owner: labels that are settings, and jobs that wait for these labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/fleet/vertical_pass.h"

namespace taut::brain {

// Applies the owner's settings. Not thread-safe.
class LiveOwners {
 public:
  LiveOwners(FleetState& state, VerticalPass& pass, ReplicaPass& replicas)
      : s_(state), pass_(pass), replicas_(replicas) {}

  // From now on, new jobs and jobs that were not measured in the previous window wait for their owner's
  // settings. Until Settle, modes auto and canary make no decisions for them.
  void Await() { s_.awaits_owners = true; }
  // Returns at most `limit` jobs that wait for their owner's settings. `cursor`: see FindJobsFrom.
  std::vector<JobId> Awaiting(size_t limit, uint32_t& cursor) const;
  // Ends the wait of a job and makes the postponed decisions. `labels`: see SetLabels; nullptr: no source has
  // settings of the job. Returns true if the job's labels changed. REQUIRES: Has(id).
  bool Settle(JobId id, const std::vector<KeyValue>* labels, int64_t now_s, PassOutput& out);
  // Replaces all labels of the job that are settings, and makes the resulting decisions at once, as after a
  // change by a person. Returns false if nothing changed. REQUIRES: Has(id).
  bool SetLabels(JobId id, std::span<const KeyValue> labels, int64_t now_s, PassOutput& out);
  // Returns true if a window has shown the owner's memory limit, or another memory limit is in force. REQUIRES:
  // Has(id).
  bool Knows(JobId id) const;
  // Sets the owner's memory limit until the job's first window is closed; no effect if Knows(id). REQUIRES:
  // Has(id).
  void Learn(JobId id, double memory_bytes);
  // Sets whether the request of the job's container stays unchanged by recommendations. REQUIRES: Has(id).
  void SetRequestStays(JobId id, Resource r, bool stays) { s_.jobs[id].of(r).request_stays = stays; }

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
};

}  // namespace taut::brain
