// What tasks request where memory limits are soft, and how important they are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/sim/soft_memory_replay.h"
#include "tools/sim/trace_tier.h"

namespace taut::tools {

// The memory limits that a recommender would have had in force, by job.
class JobLimits {
 public:
  explicit JobLimits(size_t jobs) : changes_(jobs) {}
  // In order of time for each job.
  void Add(const LimitChange& change);
  // Bytes of each task; absent before the first, and while there is none. O(log changes).
  std::optional<float> At(JobId job, WindowId window) const;

 private:
  struct Change {
    WindowId from;
    std::optional<float> limit;
  };
  std::vector<std::vector<Change>> changes_;
};

// Reads `source` once. Errors as Replay; Cancelled if should_stop ended it.
absl::StatusOr<JobLimits> ReplayJobLimits(DaySource& source, const SoftMemoryOptions& options,
                                          Feedback feedback, const SoftMemoryHooks& hooks);

// InvalidArgument for shares of tiers that do not add up to 1.
absl::Status CheckTierShares(const SoftMemoryOptions& options);

// By job of the source; kUnknown: it is to be drawn.
std::vector<TraceTier> TiersOfJobs(const DaySource& source, const SoftMemoryOptions& options);

}  // namespace taut::tools
