// Saves the fleet's state as bytes, in chunks of jobs, and loads the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "brain/fleet/live_history.h"
#include "brain/fleet/live_trials.h"

namespace taut::brain {

// Saves and loads checkpoints. Not thread-safe. Loads jobs in parallel if `run` calls turns in parallel.
class LiveCheckpoint {
 public:
  LiveCheckpoint(FleetState& state, LiveHistory& history, LiveTrials& trials)
      : s_(state), history_(history), trials_(trials) {}

  // Returns the number of chunks; chunks [0, num_chunks()) cover all ids.
  uint32_t num_chunks() const {
    return (s_.jobs.end_id() + FleetState::kChunkJobs - 1) / FleetState::kChunkJobs;
  }
  bool ChunkHasJobs(uint32_t chunk) const { return s_.jobs.used_in_page(chunk) > 0; }
  // Appends the state of all jobs in the chunk.
  void SaveChunk(uint32_t chunk, ByteWriter& out) const;
  // Loads a chunk. Each job is loaded completely or not at all: a job that cannot be read is created anew, with
  // `lost` and needs_history set. `through`: the window at whose end the chunk was saved. Lanes stay packed
  // until their job is stepped, which makes the start of the daemon faster. Returns DataLoss for damaged bytes,
  // InvalidArgument for an unsupported version.
  absl::Status LoadChunk(uint32_t chunk, WindowId through, ByteReader& in, RunTurns run = RunInOrder);
  // Creates recommenders for restored jobs that were in no checkpoint.
  void MakeRecommenders(RunTurns run = RunInOrder);
  // Returns the first window that changed the chunk since MarkSaved; nullopt: none.
  std::optional<WindowId> ChangedSince(uint32_t chunk) const;
  // Records that a checkpoint has the chunk's current state.
  void MarkSaved(uint32_t chunk);
  // Appends the state shared by all jobs: the current day, promises and models.
  void SaveFleet(ByteWriter& out) const;
  // Reads the bytes that SaveFleet wrote. Returns InvalidArgument for an unsupported version, DataLoss for
  // damaged bytes.
  absl::Status LoadFleet(ByteReader& in);

  // Returns the approximate memory of all jobs in bytes. O(jobs).
  size_t state_bytes() const;

 private:
  absl::Status LoadJob(std::string_view bytes, LiveJob& job) const;

  FleetState& s_;
  LiveHistory& history_;
  LiveTrials& trials_;
};

}  // namespace taut::brain
