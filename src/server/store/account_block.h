// The account of a chunk of jobs over some windows, as bytes: a checkpoint envelope
// (common/histogram/checkpoint.h),
// so damage is found. Layout in docs/reference/storage.md, "The store".
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
constexpr uint32_t AccountChunkOf(JobId job) { return job.value / kJobsPerAccountChunk; }

// `entries`: of the chunk, ascending, of windows from `first` on.
std::string EncodeAccountBlock(std::span<const AccountEntry> entries, WindowId first, uint32_t chunk);
// Adds the entries to those in `sums`, ascending by job. DataLoss if it is not a whole block of this chunk and
// time; `sums` is then as it was.
absl::Status AddAccountBlock(std::string_view block, WindowId first, uint32_t chunk,
                             std::vector<AccountEntry>& sums);

}  // namespace taut::server
