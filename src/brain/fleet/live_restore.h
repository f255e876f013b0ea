// What was stored since the last checkpoint, once more: taken in without deciding anything.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/fleet/live_kills.h"
#include "brain/fleet/live_owners.h"

namespace taut::brain {

class LiveRestore {
 public:
  LiveRestore(FleetState& state, VerticalPass& pass, ReplicaPass& replicas, LiveTrials& trials,
              LiveKills& kills, LiveOwners& owners)
      : s_(state), pass_(pass), replicas_(replicas), trials_(trials), kills_(kills), owners_(owners) {}

  void Redo(const SettingChange& change);
  void Redo(const Decision& decision);
  // Of a decision that the job knows already.
  void RedoOutcome(const Decision& d);
  // A stored window, for the jobs of chunks whose checkpoint is older than it (through[chunk] < window).
  void Redo(const ClosedWindow& closed, std::span<const WindowId> through, RunTurns run = RunInOrder);
  // In the order in which they were taken in, each before the windows that end after it.
  void Redo(const OomRecord& oom) { kills_.Redo(oom); }
  // Times that lie ahead of the clock by more than an hour were made by a wrong one: they are `now_s` from
  // now on, so that nothing waits for them.
  void DistrustFuture(int64_t now_s);
  // After the last Redo. The ids given out last, of anything.
  void End(uint64_t last_decision, uint64_t last_setting, uint64_t last_oom = 0);

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
  LiveTrials& trials_;
  LiveKills& kills_;
  LiveOwners& owners_;
  std::vector<uint32_t> indices_;  // scratch
};

}  // namespace taut::brain
