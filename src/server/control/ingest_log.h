// Log of the samples in open windows. The next start replays the log.
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

  // Writes the samples since the last call to the log, and drops samples of stored windows. `all_stored`: no
  // closed window waits for the store. status() returns the result.
  void Keep(bool all_stored);
  // Returns the result of the last write. Not OK: a kill of the process would now lose samples of open
  // windows.
  absl::Status status() const;
  // Returns the number of acknowledged bytes that a kill of the process would now lose.
  uint64_t unwritten_bytes() const { return s_.samples == nullptr ? 0 : s_.samples->unwritten_bytes(); }
  // Returns the number of samples of open windows that Replay restored.
  uint64_t replayed_samples() const { return s_.replayed_samples; }

  // ---- restore, before any other thread starts ----
  // Starts the ingest after the last stored window; `fill` registers the known jobs.
  void Restore(std::optional<WindowId> last_window, absl::FunctionRef<void(SeriesMapper&)> fill);
  // Replays the log. Calls `on_damage` with a sentence for each lost part. Returns an error if the log or the
  // history cannot be read.
  absl::Status Replay(std::optional<WindowId> last_window, History& history,
                      absl::FunctionRef<void(std::string_view)> on_damage);

 private:
  // Drops kills that are already stored; TakeOoms returns the other kills. REQUIRES the state's mutex.
  absl::Status KeepNewOoms(std::vector<OomSighting> sightings, History& history);

  IngestState& s_;
};

}  // namespace taut::server
