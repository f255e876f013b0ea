// Replays the settings, decisions, windows and kills that were stored since the last checkpoint, without making
// new decisions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/fleet/live_kills.h"
#include "brain/fleet/live_owners.h"

namespace taut::brain {

// Replays stored events after a restart. Not thread-safe.
class LiveRestore {
 public:
  LiveRestore(FleetState& state, VerticalPass& pass, ReplicaPass& replicas, LiveTrials& trials,
              LiveKills& kills, LiveOwners& owners)
      : s_(state), pass_(pass), replicas_(replicas), trials_(trials), kills_(kills), owners_(owners) {}

  // Applies a stored setting or a stored decision.
  void Redo(const SettingChange& change);
  void Redo(const Decision& decision);
  // Applies the stored outcome of a decision that the restored state of the job already includes.
  void RedoOutcome(const Decision& d);
  // Replays a stored window for the jobs of chunks with an older checkpoint (through[chunk] < window).
  void Redo(const ClosedWindow& closed, std::span<const WindowId> through, RunTurns run = RunInOrder);
  // Replays a stored kill. Call in the order of arrival, and before the windows that end after the kill.
  void Redo(const OomRecord& oom) { kills_.Redo(oom); }
  // Finds times that a wrong clock set more than an hour into the future, and replaces them by `now_s`. The engine
  // would otherwise wait until these times.
  void DistrustFuture(int64_t now_s);
  // Ends the restore; call after the last Redo. The arguments are the highest ids in the store.
  void End(uint64_t last_decision, uint64_t last_setting, uint64_t last_oom = 0);

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
  LiveTrials& trials_;
  LiveKills& kills_;
  LiveOwners& owners_;
  std::vector<uint32_t> indices_;  // scratch memory, reused between calls
};

}  // namespace taut::brain
