// What a later start reads instead of the windows behind it.
#include <algorithm>
#include <vector>

#include "control/control_plane.h"
#include "control/unsaved.h"

namespace taut {
namespace {

constexpr size_t kChunksAtATime = 16;  // encoded before others may look in: about 10 ms
constexpr size_t kCheckpointBytesAtATime = size_t{16} << 20;  // a commit, the size of the store's log

}  // namespace

// What a pass changed and no stored window or decision can bring back goes with the pass: which tasks are on
// trial, what the actuator remembers, what the fleet learnt of a day.
void ControlPlane::SaveWithPass(WindowId through, bool fleet_too) {
  SaveChunksOf(unsaved_->trials, through);
  SaveActuator(through);
  if (!fleet_too) return;
  Checkpoint& c = unsaved_->checkpoints.emplace_back(Checkpoint{kFleetChunk, through, {}});
  ByteWriter out(&c.bytes);
  const std::shared_lock fleet(fleet_mutex_);
  fleet_.SaveFleet(out);
}

void ControlPlane::SaveActuator(WindowId through) {
  std::string state = parts_.actuator->SaveState();
  if (state == actuator_state_) return;
  actuator_state_ = std::move(state);
  unsaved_->checkpoints.push_back({kActuatorChunk, through, actuator_state_});
}

void ControlPlane::SaveChunksOf(std::span<const JobId> jobs, WindowId through) {
  std::vector<uint32_t> chunks;
  for (const JobId id : jobs) chunks.push_back(id.value / LiveFleet::kChunkJobs);
  std::ranges::sort(chunks);
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  SaveChunks(chunks, through);
}

void ControlPlane::SaveChunks(std::span<const uint32_t> chunks, WindowId through) {
  const size_t first = unsaved_->checkpoints.size();
  for (const uint32_t chunk : chunks) unsaved_->checkpoints.push_back({chunk, through, {}});
  const std::unique_lock fleet(fleet_mutex_);
  RunOnThreads(chunks.size(), [&](size_t i) {
    ByteWriter out(&unsaved_->checkpoints[first + i].bytes);
    if (fleet_.ChunkHasJobs(chunks[i])) fleet_.SaveChunk(chunks[i], out);
  });
  for (const uint32_t chunk : chunks) fleet_.MarkSaved(chunk);
}

// In commits of their own, some chunks at a time: limits are on their way by now, and memory stays small.
// `through`: a window that the store has.
absl::Status ControlPlane::SaveDueChunks(WindowId through, bool all) {
  const uint32_t chunks = fleet_.num_chunks();
  const auto per_pass =
      static_cast<uint32_t>((chunks + options_.checkpoint_windows - 1) / options_.checkpoint_windows);
  size_t bytes = 0;
  // A start does not send the orders again whose decisions these checkpoints include: by then the actuator must
  // have them.
  SaveActuator(through);
  for (uint32_t left = all ? chunks : per_pass; left > 0;) {
    std::vector<uint32_t> due;
    for (; left > 0 && due.size() < kChunksAtATime; --left) {
      if (next_chunk_ >= chunks) next_chunk_ = 0;
      if (fleet_.ChangedSince(next_chunk_).has_value()) due.push_back(next_chunk_);
      ++next_chunk_;
    }
    SaveChunks(due, through);
    for (const Checkpoint& c : std::span(unsaved_->checkpoints).last(due.size())) bytes += c.bytes.size();
    if (bytes < kCheckpointBytesAtATime) continue;
    bytes = 0;
    // After an error the next pass goes on from here.
    if (absl::Status s = CommitUnsaved(); !s.ok()) return s;
  }
  // An OOM kill may be stored later than the window in which it was: some windows are read again in any case.
  Checkpoint unchanged{.chunk = kUnchangedChunk,
                       .through = WindowId{through.index - options_.checkpoint_windows},
                       .bytes = {}};
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const std::optional<WindowId> since = fleet_.ChangedSince(chunk);
    if (since.has_value() && *since <= unchanged.through) {
      unchanged.through = WindowId{std::max(since->index, INT32_MIN + 1) - 1};
    }
  }
  unsaved_->checkpoints.push_back(std::move(unchanged));
  return CommitUnsaved();
}

absl::Status ControlPlane::CheckpointAll() {
  const std::lock_guard writer(writer_mutex_);
  (void)KeepSamples();
  if (absl::Status s = CommitUnsaved(); !s.ok()) return s;
  const std::shared_ptr<const FleetView> seen = view();
  if (!seen->window.has_value()) return absl::OkStatus();
  SaveWithPass(*seen->window, true);
  return SaveDueChunks(*seen->window, true);
}

}  // namespace taut
