// Saves the fleet's state as bytes, in chunks of jobs, and loads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "brain/fleet/live_history.h"
#include "brain/fleet/live_trials.h"

namespace taut::brain {

// Not thread-safe. Loading runs jobs in parallel if the caller's RunTurns does.
class LiveCheckpoint {
 public:
  LiveCheckpoint(FleetState& state, LiveHistory& history, LiveTrials& trials)
      : s_(state), history_(history), trials_(trials) {}

  // Chunks [0, num_chunks()) cover all ids.
  uint32_t num_chunks() const {
    return (s_.jobs.end_id() + FleetState::kChunkJobs - 1) / FleetState::kChunkJobs;
  }
  bool ChunkHasJobs(uint32_t chunk) const { return s_.jobs.used_in_page(chunk) > 0; }
  // Appends the jobs of a chunk.
  void SaveChunk(uint32_t chunk, ByteWriter& out) const;
  // Loads a chunk. All or nothing for each job: jobs that could not be read are new, marked `lost`, and need
  // history. `through`: the window at whose end the chunk was saved. Lanes stay packed until their job is
  // stepped, since a start need not build what only a window uses. Returns DataLoss for damaged bytes,
  // InvalidArgument for another version.
  absl::Status LoadChunk(uint32_t chunk, WindowId through, ByteReader& in, RunTurns run = RunInOrder);
  // Creates recommenders for restored jobs that no checkpoint had.
  void MakeRecommenders(RunTurns run = RunInOrder);
  // Returns the first window that changed the chunk since MarkSaved; nullopt: none.
  std::optional<WindowId> ChangedSince(uint32_t chunk) const;
  // Notes that a checkpoint has the chunk as it is now.
  void MarkSaved(uint32_t chunk);
  // The state shared by all jobs: the current day, promises and models.
  void SaveFleet(ByteWriter& out) const;
  // Returns InvalidArgument for another version, DataLoss for damaged bytes.
  absl::Status LoadFleet(ByteReader& in);

  // Approximate memory of all jobs. O(jobs).
  size_t state_bytes() const;

 private:
  absl::Status LoadJob(std::string_view bytes, LiveJob& job) const;

  FleetState& s_;
  LiveHistory& history_;
  LiveTrials& trials_;
};

}  // namespace taut::brain
