// Log of the samples in open windows; a start replays it.
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

// The thread of the passes makes all calls except status and unwritten_bytes, which any thread may call.
class IngestLog {
 public:
  explicit IngestLog(IngestState& state) : s_(state) {}

  // Writes the samples since the last call, and drops those whose windows are stored. `all_stored`: no closed
  // window waits for the store. status() has the result.
  void Keep(bool all_stored);
  // Not OK: a kill at this moment would lose samples of open windows.
  absl::Status status() const;
  // Bytes of acknowledged samples that a kill at this moment would lose.
  uint64_t unwritten_bytes() const { return s_.samples == nullptr ? 0 : s_.samples->unwritten_bytes(); }
  // Samples of open windows that Replay restored.
  uint64_t replayed_samples() const { return s_.replayed_samples; }

  // ---- restore: no other thread is there yet ----
  // Starts the ingest after the last stored window; `fill` registers the known jobs.
  void Restore(std::optional<WindowId> last_window, absl::FunctionRef<void(SeriesMapper&)> fill);
  // Replays the log. Calls `on_damage` with a sentence for each part that is lost. Returns an error of
  // reading the log or the history.
  absl::Status Replay(std::optional<WindowId> last_window, History& history,
                      absl::FunctionRef<void(std::string_view)> on_damage);

 private:
  // Separates kills already stored from new ones, which TakeOoms then returns. REQUIRES the state's mutex.
  absl::Status KeepNewOoms(std::vector<OomSighting> sightings, History& history);

  IngestState& s_;
};

}  // namespace taut::server
