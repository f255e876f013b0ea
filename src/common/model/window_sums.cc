#include "common/model/window_sums.h"

#include <algorithm>

namespace taut {

UsageSums SumUsage(const JobDay& day, const JobWindow& window, Resource resource) {
  UsageSums out;
  for (uint32_t i = 0; i < window.num_tasks; ++i) {
    const TaskWindow& task = day.tasks[window.first_task + i];
    const float mean = task.mean(resource);
    if (mean < 0) continue;
    const float peak = task.peak(resource);
    out.usage += mean;
    out.peak += std::max(mean, peak);
    ++out.tasks;
  }
  return out;
}

std::optional<double> OwnerLimitSum(const JobWindow& window, Resource resource, uint32_t tasks) {
  const float sum = window.limit_sum(resource);
  if (sum >= 0) return sum;
  const float each = window.limit(resource);
  if (each >= 0) return double{each} * tasks;
  return std::nullopt;
}

}  // namespace taut
