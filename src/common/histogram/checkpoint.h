// The envelope of every checkpoint: says what the bytes are, who may read them, and whether they are whole.
//
// Byte layout: docs/reference/storage.md, "Checkpoints". The payload is opaque here; histograms append
// themselves with their Save and read themselves back with Load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut {

inline constexpr uint16_t kCheckpointVersion = 1;
inline constexpr size_t kCheckpointHeaderBytes = 36;
// What Open inflates at most, unless told otherwise: a million containers' state.
inline constexpr size_t kMaxCheckpointPayload = size_t{4} << 30;

enum class CheckpointCompression : uint8_t {
  kAuto,     // zstd where a trial on the first 128 KiB saves a quarter or more, and at all only from 4 KiB up
  kSmaller,  // zstd where it saves anything, for what is written once and kept long
  kNever
};

// Wraps `payload`: header, checksum (XXH3, 64 bits, over header and stored bytes), payload raw or zstd. The
// same input gives the same bytes. About 1 GB/s raw.
std::string SealCheckpoint(std::string_view payload,
                           CheckpointCompression compression = CheckpointCompression::kAuto);

// The payload of what SealCheckpoint made. `bytes` must be exactly one envelope.
//   InvalidArgument     not a checkpoint at all (magic)
//   Unimplemented       written by a newer version of the program
//   DataLoss            truncated, extended or damaged: any flipped byte is found
//   ResourceExhausted   the payload is larger than max_payload; nothing of that size was allocated
absl::StatusOr<std::string> OpenCheckpoint(std::string_view bytes,
                                           size_t max_payload = kMaxCheckpointPayload);

}  // namespace taut
