// What the tasks of a job used in a window, all together.
#pragma once

#include <optional>

#include "common/model/resource.h"
#include "common/model/usage.h"

namespace taut {

// In cores or bytes, over the tasks that were measured.
struct UsageSums {
  double usage = 0;  // of the tasks' means
  double peak = 0;   // of the tasks' peaks, none below its mean
  uint32_t tasks = 0;
};
UsageSums SumUsage(const JobDay& day, const JobWindow& window, Resource resource);

// The owner's limits of `tasks` tasks; nothing where there is no limit.
std::optional<double> OwnerLimitSum(const JobWindow& window, Resource resource, uint32_t tasks);

}  // namespace taut
