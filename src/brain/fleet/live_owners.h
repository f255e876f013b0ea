// Settings of a job's owner: labels that are settings, and jobs that wait for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/fleet/vertical_pass.h"

namespace taut::brain {

// Not thread-safe.
class LiveOwners {
 public:
  LiveOwners(FleetState& state, VerticalPass& pass, ReplicaPass& replicas)
      : s_(state), pass_(pass), replicas_(replicas) {}

  // From now on, jobs that are added, or were not measured in the window before one, wait: modes auto and
  // canary decide nothing for them until Settle.
  void Await() { s_.awaits_owners = true; }
  // Returns at most `limit` waiting jobs. `cursor`: see FindJobsFrom.
  std::vector<JobId> Awaiting(size_t limit, uint32_t& cursor) const;
  // Ends the wait of a job and makes the postponed decisions. `labels`: see SetLabels; nullptr: no source has
  // settings of the job. Returns whether the job's labels changed. REQUIRES: Has(id).
  bool Settle(JobId id, const std::vector<KeyValue>* labels, int64_t now_s, PassOutput& out);
  // Replaces all labels of the job that are settings, and acts on them at once, as on a person's setting.
  // Returns false if nothing changed. REQUIRES: Has(id).
  bool SetLabels(JobId id, std::span<const KeyValue> labels, int64_t now_s, PassOutput& out);
  // Returns whether the owner's memory limit is known from a window, or another limit is in force. REQUIRES:
  // Has(id).
  bool Knows(JobId id) const;
  // Sets the owner's memory limit until the job's first window is closed; no effect if Knows(id). REQUIRES:
  // Has(id).
  void Learn(JobId id, double memory_bytes);
  // Sets whether the request of the job's container stays, whatever is recommended. REQUIRES: Has(id).
  void SetRequestStays(JobId id, Resource r, bool stays) { s_.jobs[id].of(r).request_stays = stays; }

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
};

}  // namespace taut::brain
