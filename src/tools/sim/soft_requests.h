// Requests and tiers of tasks whose memory limits are soft.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/sim/soft_memory_replay.h"
#include "tools/sim/trace_tier.h"

namespace taut::tools {

// Memory limits of a recommender over time, by job.
class JobLimits {
 public:
  explicit JobLimits(size_t jobs) : changes_(jobs) {}
  // Appends a change. REQUIRES: the changes of a job ascend in time.
  void Add(const LimitChange& change);
  // Returns the limit of each task of the job in bytes. Absent before the job's first limit, and while the job is
  // unlimited. O(log changes).
  std::optional<float> At(JobId job, WindowId window) const;

 private:
  struct Change {
    WindowId from;
    std::optional<float> limit;
  };
  std::vector<std::vector<Change>> changes_;
};

// Replays the recommender of `options` and returns its limits. Reads `source` once. Returns errors of Replay(),
// and Cancelled if should_stop returned true.
absl::StatusOr<JobLimits> ReplayJobLimits(DaySource& source, const SoftMemoryOptions& options,
                                          Feedback feedback, const SoftMemoryHooks& hooks);

// Returns InvalidArgument if a share is negative or the shares do not add up to 1.
absl::Status CheckTierShares(const SoftMemoryOptions& options);

// Returns the tier of each job of the source; kUnknown if the tier must be drawn.
std::vector<TraceTier> TiersOfJobs(const DaySource& source, const SoftMemoryOptions& options);

}  // namespace taut::tools
