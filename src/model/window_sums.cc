#include "model/window_sums.h"

#include <algorithm>

namespace taut {

UsageSums SumUsage(const JobDay& day, const JobWindow& window, Resource resource) {
  const bool is_cpu = resource == Resource::kCpu;
  UsageSums out;
  for (uint32_t i = 0; i < window.num_tasks; ++i) {
    const TaskWindow& task = day.tasks[window.first_task + i];
    const float mean = is_cpu ? task.cpu_mean_cores : task.memory_mean_bytes;
    if (mean < 0) continue;
    const float peak = is_cpu ? task.cpu_peak_cores : task.memory_peak_bytes;
    out.usage += mean;
    out.peak += std::max(mean, peak);
    ++out.tasks;
  }
  return out;
}

std::optional<double> OwnerLimitSum(const JobWindow& window, Resource resource, uint32_t tasks) {
  const bool is_cpu = resource == Resource::kCpu;
  const float sum = is_cpu ? window.cpu_limit_sum_cores : window.memory_limit_sum_bytes;
  if (sum >= 0) return sum;
  const float each = is_cpu ? window.cpu_limit_cores : window.memory_limit_bytes;
  if (each >= 0) return double{each} * tasks;
  return std::nullopt;
}

}  // namespace taut
