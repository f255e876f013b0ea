// How usage lies in the store: all jobs of a chunk in one window (a window block), or one job's day (a day
// block). Both are checkpoint envelopes (common/histogram/checkpoint.h), so damage is found; layouts in
// docs/reference/storage.md, "The store". Floats come back bit for bit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/closed_window.h"
#include "common/model/usage.h"

namespace taut::server {

inline constexpr uint32_t kJobsPerChunk = 64;
constexpr uint32_t ChunkOf(JobId job) { return job.value / kJobsPerChunk; }

// From a window of all jobs to a day of one, and back.
void AppendWindow(const ClosedWindow& closed, size_t index, JobDay& out);
void AppendJob(const JobDay& day, size_t index, ClosedWindow& out);
// The windows of both, ascending; of a window that is in both, the one of `first`.
JobDay MergedDay(const JobDay& first, const JobDay& second);
// The same of days, ascending, one each.
std::vector<JobDay> MergedDays(std::vector<JobDay> first, std::vector<JobDay> second);
// Its windows in [from, to).
JobDay WindowsOf(const JobDay& day, WindowId from, WindowId to);

// Jobs [begin, end) of `closed`, all of one chunk.
std::string EncodeWindowBlock(const ClosedWindow& closed, size_t begin, size_t end);
// Adds the block's jobs to `out`. DataLoss if it is not a whole block of this window and chunk; `out` is then
// as it was.
absl::Status DecodeWindowBlock(std::string_view block, WindowId window, uint32_t chunk, ClosedWindow& out);
// Adds the window of one job to `out`; false if the job is not in it. Does not decode the others.
absl::StatusOr<bool> FindInWindowBlock(std::string_view block, WindowId window, JobId job, JobDay& out);

std::string EncodeDayBlock(const JobDay& day);
// Adds the windows of [from, to) to `out`. DataLoss as above; `out` may then hold some of them.
absl::Status DecodeDayBlock(std::string_view block, JobId job, int32_t day, WindowId from, WindowId to,
                            JobDay& out);

}  // namespace taut::server
