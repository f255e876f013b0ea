// Encodes the account of a chunk of jobs over some windows. A block is a checkpoint envelope
// (common/histogram/checkpoint.h), so damage is detected. Layout in docs/reference/storage.md, "The store".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/base/time.h"
#include "common/model/account.h"

namespace taut::server {

inline constexpr uint32_t kJobsPerAccountChunk = 1024;
// Returns the number of the job's chunk.
constexpr uint32_t AccountChunkOf(JobId job) { return job.value / kJobsPerAccountChunk; }

// Encodes the entries of one chunk, ascending by job. `first`: first window of the time that the entries
// cover.
std::string EncodeAccountBlock(std::span<const AccountEntry> entries, WindowId first, uint32_t chunk);
// Adds a block's entries to `sums`, ascending by job. Returns DataLoss if the block is damaged or belongs to
// another chunk or time; `sums` is then unchanged.
absl::Status AddAccountBlock(std::string_view block, WindowId first, uint32_t chunk,
                             std::vector<AccountEntry>& sums);

}  // namespace taut::server
