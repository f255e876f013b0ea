#include "server/control/checkpointer.h"

#include <algorithm>
#include <utility>

namespace taut::server {
namespace {

// First byte of the actuator's checkpoint. Older versions stored only the state, which never begins with this
// byte.
constexpr uint8_t kSavedWithDecision = 0xFE;
constexpr size_t kChunksAtATime = 16;  // number of chunks that are encoded under one lock, in about 10 ms
constexpr size_t kCheckpointBytesAtATime = size_t{16} << 20;  // size of a commit and of the store's log

}  // namespace

void Checkpointer::SaveWithPass(WindowId through, bool fleet_too) {
  SaveChunksOf(committer_.unsaved().trials, through);
  SaveActuator(through);
  if (!fleet_too) return;
  Checkpoint& c = committer_.unsaved().checkpoints.emplace_back(Checkpoint{kFleetChunk, through, {}});
  ByteWriter out(&c.bytes);
  fleet_.Read()->checkpoint.SaveFleet(out);
}

void Checkpointer::SaveActuator(WindowId through) {
  // published() is read before the state, so that an order between the two reads is sent again after a restart. If
  // the state were read first, the checkpoint would list this order although the state does not include it.
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(kSavedWithDecision);
  out.PutVarint(committer_.published());
  const std::string state = actuator_.SaveState();
  if (state.empty()) return;
  bytes += state;
  if (bytes == actuator_state_) return;
  actuator_state_ = std::move(bytes);
  committer_.unsaved().checkpoints.push_back({kActuatorChunk, through, actuator_state_});
}

void Checkpointer::RestoreActuator(const Checkpoint& checkpoint) {
  actuator_state_ = checkpoint.bytes;
  actuator_saved_ = ActuatorSaved{std::nullopt, checkpoint.through};
  ByteReader in(actuator_state_);
  if (in.Get<uint8_t>() != kSavedWithDecision) return actuator_.LoadState(actuator_state_);
  const uint64_t decision = in.GetVarint();
  if (in.failed()) return;
  actuator_saved_->decision = decision;
  actuator_.LoadState(std::string_view(actuator_state_).substr(actuator_state_.size() - in.remaining()));
}

void Checkpointer::SaveChunksOf(std::span<const JobId> jobs, WindowId through) {
  std::vector<uint32_t> chunks;
  for (const JobId id : jobs) chunks.push_back(id.value / brain::LiveFleet::kChunkJobs);
  std::ranges::sort(chunks);
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  SaveChunks(chunks, through);
}

void Checkpointer::SaveChunks(std::span<const uint32_t> chunks, WindowId through) {
  std::vector<Checkpoint>& out = committer_.unsaved().checkpoints;
  const size_t first = out.size();
  for (const uint32_t chunk : chunks) out.push_back({chunk, through, {}});
  const auto fleet = fleet_.Write();
  fleet_.RunOnThreads(chunks.size(), [&](size_t i) {
    ByteWriter bytes(&out[first + i].bytes);
    if (fleet->checkpoint.ChunkHasJobs(chunks[i])) fleet->checkpoint.SaveChunk(chunks[i], bytes);
  });
  // The chunks are marked before the commit: if the commit fails, the encoded chunks stay in unsaved() and
  // the next commit stores them.
  for (const uint32_t chunk : chunks) fleet->checkpoint.MarkSaved(chunk);
}

uint32_t Checkpointer::PerPass() const {
  const uint32_t chunks = fleet_.unlocked().checkpoint.num_chunks();
  return static_cast<uint32_t>((chunks + windows_ - 1) / windows_);
}

absl::Status Checkpointer::SaveNext(WindowId through, uint32_t count) {
  const brain::LiveFleet& fleet = fleet_.unlocked();
  const uint32_t chunks = fleet.checkpoint.num_chunks();
  std::vector<Checkpoint>& out = committer_.unsaved().checkpoints;
  size_t bytes = 0;
  SaveActuator(through);
  for (uint32_t left = count; left > 0;) {
    std::vector<uint32_t> due;
    for (; left > 0 && due.size() < kChunksAtATime; --left) {
      if (next_chunk_ >= chunks) next_chunk_ = 0;
      if (fleet.checkpoint.ChangedSince(next_chunk_).has_value()) due.push_back(next_chunk_);
      ++next_chunk_;
    }
    SaveChunks(due, through);
    for (const Checkpoint& c : std::span(out).last(due.size())) bytes += c.bytes.size();
    if (bytes < kCheckpointBytesAtATime) continue;
    bytes = 0;
    // After an error, the next pass continues with the next chunk.
    if (absl::Status s = committer_.Commit(); !s.ok()) return s;
  }
  // A chunk that has not changed is recorded as valid up to `windows_` windows ago, and not up to now. An OOM kill
  // may be stored later than its window, so a restart must read the windows since then in any case.
  Checkpoint unchanged{.chunk = kUnchangedChunk, .through = WindowId{through.index - windows_}, .bytes = {}};
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const std::optional<WindowId> since = fleet.checkpoint.ChangedSince(chunk);
    if (since.has_value() && *since <= unchanged.through) {
      unchanged.through = WindowId{std::max(since->index, INT32_MIN + 1) - 1};
    }
  }
  out.push_back(std::move(unchanged));
  return committer_.Commit();
}

}  // namespace taut::server
