// Encodes usage for the store. A window block contains all jobs of a chunk in one window; a day block
// contains one job's day. Both are checkpoint envelopes (common/histogram/checkpoint.h), so damage is
// detected. Layouts in docs/reference/storage.md, "The store". All bits of floats are stored.
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
// Returns the number of the job's chunk.
constexpr uint32_t ChunkOf(JobId job) { return job.value / kJobsPerChunk; }

// The next two functions copy one job's window between a window of all jobs and a day of one job.
void AppendWindow(const ClosedWindow& closed, size_t index, JobDay& out);
void AppendJob(const JobDay& day, size_t index, ClosedWindow& out);
// Returns the windows of both days, ascending. If both days have a window, the result has the window of
// `first`.
JobDay MergedDay(const JobDay& first, const JobDay& second);
// Merges lists of days as MergedDay does. Both lists are ascending with one entry per day.
std::vector<JobDay> MergedDays(std::vector<JobDay> first, std::vector<JobDay> second);
// Returns the windows of the day that are in [from, to).
JobDay WindowsOf(const JobDay& day, WindowId from, WindowId to);

// Encodes jobs [begin, end) of `closed`, all of one chunk.
std::string EncodeWindowBlock(const ClosedWindow& closed, size_t begin, size_t end);
// Adds the block's jobs to `out`. Returns DataLoss if the block is damaged or belongs to another window or
// chunk; `out` is then unchanged.
absl::Status DecodeWindowBlock(std::string_view block, WindowId window, uint32_t chunk, ClosedWindow& out);
// Adds the window of one job to `out`, without decoding other jobs. Returns false if the block lacks the job.
absl::StatusOr<bool> FindInWindowBlock(std::string_view block, WindowId window, JobId job, JobDay& out);

// Encodes a day of one job.
std::string EncodeDayBlock(const JobDay& day);
// Adds the windows in [from, to) to `out`. Returns DataLoss if the block is damaged or belongs to another job or
// day; `out` may then contain some of the windows.
absl::Status DecodeDayBlock(std::string_view block, JobId job, int32_t day, WindowId from, WindowId to,
                            JobDay& out);

}  // namespace taut::server
