// The log of samples whose windows are open: what it has is taken in again at the start.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/control/ingest_state.h"
#include "server/store/store.h"

namespace taut::server {

// One thread calls it, that of the passes; status and unwritten_bytes any.
class IngestLog {
 public:
  explicit IngestLog(IngestState& state) : s_(state) {}

  // Gives the log what came since the last time, and forgets what is stored. `all_stored`: no closed window
  // waits. status() says how it went.
  void Keep(bool all_stored);
  // Not OK: samples of open windows would be lost to a kill just now.
  absl::Status status() const;
  // Of samples that were acknowledged: a kill just now would lose them.
  uint64_t unwritten_bytes() const { return s_.samples == nullptr ? 0 : s_.samples->unwritten_bytes(); }
  uint64_t replayed_samples() const { return s_.replayed_samples; }  // of open windows, by Replay

  // ---- restore: no other thread is there yet ----
  // Begins anew after what is stored; `fill` makes the jobs known.
  void Restore(std::optional<WindowId> last_window, absl::FunctionRef<void(SeriesMapper&)> fill);
  // Takes in the log's samples again. `on_damage`: what of it was lost.
  absl::Status Replay(std::optional<WindowId> last_window, History& history,
                      absl::FunctionRef<void(std::string_view)> on_damage);

 private:
  // REQUIRES: the state's mutex.
  absl::Status KeepNewOoms(std::vector<OomSighting> sightings, History& history);

  IngestState& s_;
};

}  // namespace taut::server
