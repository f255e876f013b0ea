// The fleet's state as bytes, in chunks of jobs, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "brain/fleet/live_history.h"
#include "brain/fleet/live_trials.h"

namespace taut::brain {

class LiveCheckpoint {
 public:
  LiveCheckpoint(FleetState& state, LiveHistory& history, LiveTrials& trials)
      : s_(state), history_(history), trials_(trials) {}

  uint32_t num_chunks() const {
    return (s_.jobs.end_id() + FleetState::kChunkJobs - 1) / FleetState::kChunkJobs;
  }
  bool ChunkHasJobs(uint32_t chunk) const { return s_.jobs.used_in_page(chunk) > 0; }
  void SaveChunk(uint32_t chunk, ByteWriter& out) const;
  // All or nothing for each job: after an error the jobs of the chunk that could not be read are new ones
  // that are `lost` and want history. `through`: the window at whose end it was saved.
  // Lanes sleep until their job is stepped: a start need not build what only a window asks for.
  absl::Status LoadChunk(uint32_t chunk, WindowId through, ByteReader& in, RunTurns run = RunInOrder);
  // For the restored jobs that no checkpoint had.
  void MakeRecommenders(RunTurns run = RunInOrder);
  // The first window that changed the chunk since MarkSaved; nullopt: none did.
  std::optional<WindowId> ChangedSince(uint32_t chunk) const;
  void MarkSaved(uint32_t chunk);
  void SaveFleet(ByteWriter& out) const;
  absl::Status LoadFleet(ByteReader& in);

  size_t state_bytes() const;

 private:
  absl::Status LoadJob(std::string_view bytes, LiveJob& job) const;

  FleetState& s_;
  LiveHistory& history_;
  LiveTrials& trials_;
};

}  // namespace taut::brain
