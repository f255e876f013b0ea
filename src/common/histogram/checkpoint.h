// The envelope of all checkpoints: identifies the format and its version, and detects damage.
//
// Byte layout: docs/reference/storage.md, "Checkpoints". These functions do not interpret the payload; objects
// append themselves to it with Save and restore themselves with Load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut {

inline constexpr uint16_t kCheckpointVersion = 1;
inline constexpr size_t kCheckpointHeaderBytes = 36;
// Default limit of the inflated payload: enough for the state of a million containers.
inline constexpr size_t kMaxCheckpointPayload = size_t{4} << 30;

enum class CheckpointCompression : uint8_t {
  kAuto,     // zstd from 4 KiB up, if a trial on the first 128 KiB saves a quarter or more
  kSmaller,  // zstd if the result is smaller: for data that is written once and kept for a long time
  kNever
};

// Returns header, checksum (XXH3, 64 bits, over header and stored bytes) and the payload, raw or zstd. The
// same input yields the same bytes. About 1 GB/s raw.
std::string SealCheckpoint(std::string_view payload,
                           CheckpointCompression compression = CheckpointCompression::kAuto);

// Returns the payload of an envelope that SealCheckpoint made. `bytes` must be exactly one envelope.
//   InvalidArgument     not a checkpoint at all (wrong magic)
//   Unimplemented       written by a newer version of the program
//   DataLoss            truncated, extended or damaged: any flipped byte is detected
//   ResourceExhausted   the payload exceeds max_payload; no buffer of its size was allocated
absl::StatusOr<std::string> OpenCheckpoint(std::string_view bytes,
                                           size_t max_payload = kMaxCheckpointPayload);

}  // namespace taut
