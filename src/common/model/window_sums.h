// Sums of the usage and limits of a job's tasks in a window.
#pragma once

#include <optional>

#include "common/model/resource.h"
#include "common/model/usage.h"

namespace taut {

// Sums in cores or bytes over the measured tasks.
struct UsageSums {
  double usage = 0;  // sum of the tasks' means
  double peak = 0;   // sum of the tasks' peaks, each at least its mean
  uint32_t tasks = 0;
};
// Sums up the usage of the window's tasks. O(tasks).
UsageSums SumUsage(const JobDay& day, const JobWindow& window, Resource resource);

// Returns the sum of the owner's limits of `tasks` tasks; nullopt without a limit.
std::optional<double> OwnerLimitSum(const JobWindow& window, Resource resource, uint32_t tasks);

}  // namespace taut
