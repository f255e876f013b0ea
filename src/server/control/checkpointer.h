// What a later start reads instead of the windows behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/control/actuator.h"
#include "server/control/committer.h"
#include "server/control/shared_fleet.h"

namespace taut::server {

// REQUIRES Committer::writer().
class Checkpointer {
 public:
  // Each chunk of jobs is saved once per `windows`. All must outlive it.
  Checkpointer(int windows, Actuator& actuator, SharedFleet& fleet, Committer& committer)
      : windows_(windows), actuator_(actuator), fleet_(fleet), committer_(committer) {}

  // What a pass changed and no stored window or decision can bring back goes with the pass: which tasks are on
  // trial, what the actuator remembers, what the fleet learnt of a day (`fleet_too`).
  void SaveWithPass(WindowId through, bool fleet_too);
  // Adds the chunks of these jobs to what is unsaved.
  void SaveChunksOf(std::span<const JobId> jobs, WindowId through);
  // Saves the chunks that are due, in commits of their own, some at a time: limits are on their way by now, and
  // memory stays small. `through`: a window that the store has.
  absl::Status SaveDue(WindowId through) { return SaveNext(through, PerPass()); }
  absl::Status SaveAll(WindowId through) {
    return SaveNext(through, fleet_.unlocked().checkpoint.num_chunks());
  }
  // The actuator's state, as stored last by this version or an older one.
  void RestoreActuator(const Checkpoint& checkpoint);
  // What the restored state of the actuator has; absent: none was stored.
  struct ActuatorSaved {
    std::optional<uint64_t> decision;  // all orders up to it; absent: stored by a version that did not say it
    WindowId through;
  };
  const std::optional<ActuatorSaved>& actuator_saved() const { return actuator_saved_; }

 private:
  uint32_t PerPass() const;
  absl::Status SaveNext(WindowId through, uint32_t count);
  void SaveActuator(WindowId through);
  void SaveChunks(std::span<const uint32_t> chunks, WindowId through);

  const int windows_;
  Actuator& actuator_;
  SharedFleet& fleet_;
  Committer& committer_;
  uint32_t next_chunk_ = 0;
  std::string actuator_state_;  // as stored last, with the decision that it has last
  std::optional<ActuatorSaved> actuator_saved_;
};

}  // namespace taut::server
