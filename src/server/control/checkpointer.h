// Saves checkpoints: state that a later start loads instead of processing older windows again.
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

// Every function REQUIRES Committer::writer().
class Checkpointer {
 public:
  // Saves each chunk of jobs once per `windows` windows. The references must outlive this object.
  Checkpointer(int windows, Actuator& actuator, SharedFleet& fleet, Committer& committer)
      : windows_(windows), actuator_(actuator), fleet_(fleet), committer_(committer) {}

  // Adds to the unsaved state the data that stored windows and decisions cannot restore: tasks on trial and the
  // actuator's state. `fleet_too`: also adds the fleet's model, after the end of a day.
  void SaveWithPass(WindowId through, bool fleet_too);
  // Adds the chunks of these jobs to the unsaved state; the next commit stores them.
  void SaveChunksOf(std::span<const JobId> jobs, WindowId through);
  // Saves the chunks that are due, up to 16 MiB a commit. These commits follow the commit of the pass, so that the
  // orders of the pass are not delayed, and memory stays small. `through`: a stored window. Returns the store's
  // error; unsaved() then keeps the encoded chunks, and the next call continues with the next chunk.
  absl::Status SaveDue(WindowId through) { return SaveNext(through, PerPass()); }
  // Saves all chunks, with the commits and errors of SaveDue.
  absl::Status SaveAll(WindowId through) {
    return SaveNext(through, fleet_.unlocked().checkpoint.num_chunks());
  }
  // Restores the actuator's state from a checkpoint of this or an older version.
  void RestoreActuator(const Checkpoint& checkpoint);
  // The last decision and the last window that the actuator's restored state includes; absent if no state was
  // stored.
  struct ActuatorSaved {
    std::optional<uint64_t> decision;  // last decision in the state; absent if an older version stored it
    // Last window before the state was saved.
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
  std::string actuator_state_;  // bytes stored last, with the number of the last decision
  std::optional<ActuatorSaved> actuator_saved_;
};

}  // namespace taut::server
