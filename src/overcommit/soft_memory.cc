#include "overcommit/soft_memory.h"

#include <algorithm>
#include <tuple>

namespace taut {

std::vector<uint32_t> FindVictims(std::span<const SoftTask> tasks, double capacity) {
  double used = 0;
  for (const SoftTask& t : tasks) used += t.usage;
  if (used <= capacity) return {};
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].usage > 0) order.push_back(i);
  }
  std::ranges::sort(
      order, {}, [&](uint32_t i) { return std::tuple(tasks[i].tier, tasks[i].request - tasks[i].usage, i); });
  size_t victims = 0;
  while (victims < order.size() && used > capacity) used -= tasks[order[victims++]].usage;
  order.resize(victims);
  return order;
}

}  // namespace taut
