// Settings of a job's owner: labels that are settings, and jobs that wait for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/fleet/vertical_pass.h"

namespace taut::brain {

class LiveOwners {
 public:
  LiveOwners(FleetState& state, VerticalPass& pass, ReplicaPass& replicas)
      : s_(state), pass_(pass), replicas_(replicas) {}

  // Jobs that are added from now on, and those that were not measured in the window before one, wait: modes auto
  // and canary decide nothing for them before Settle.
  void Await() { s_.awaits_owners = true; }
  // At most `limit` that wait, with `cursor` as FindJobsFrom has it.
  std::vector<JobId> Awaiting(size_t limit, uint32_t& cursor) const;
  // Ends the wait and decides what waited. `labels` as SetLabels; nullptr: no source has settings of the job.
  // Returns whether the job's labels have changed. REQUIRES: Has(id).
  bool Settle(JobId id, const std::vector<KeyValue>* labels, int64_t now_s, PassOutput& out);
  // Sets all labels of the job that are settings: others that it has of them are gone. Acts on them at once, as on
  // a person's setting. False: it has them. REQUIRES: Has(id).
  bool SetLabels(JobId id, std::span<const KeyValue> labels, int64_t now_s, PassOutput& out);
  // Whether a window has said what the owner's memory limit is, or another limit is in force. REQUIRES: Has(id).
  bool Knows(JobId id) const;
  // The owner's memory limit, of a job that Knows is false for: until its first window is closed.
  void Learn(JobId id, double memory_bytes);
  // Whether the request of the job's container stays, whatever is recommended. REQUIRES: Has(id).
  void SetRequestStays(JobId id, Resource r, bool stays) { s_.jobs[id].of(r).request_stays = stays; }

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
};

}  // namespace taut::brain
