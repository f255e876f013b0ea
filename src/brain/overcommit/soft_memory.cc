#include "brain/overcommit/soft_memory.h"

#include <optional>

namespace taut::brain {
namespace {

// Returns true if `a` is killed before `b` while `missing` bytes must be freed.
bool GoesBefore(const SoftTask& a, const SoftTask& b, double missing) {
  if (a.tier != b.tier) return a.tier < b.tier;
  const double over_a = a.usage - a.request, over_b = b.usage - b.request;
  if (over_a > 0 || over_b > 0) return over_a > over_b;
  const bool suffices_a = a.usage >= missing, suffices_b = b.usage >= missing;
  if (suffices_a != suffices_b) return suffices_a;
  return suffices_a ? a.usage < b.usage : a.usage > b.usage;
}

}  // namespace

std::vector<uint32_t> FindVictims(std::span<const SoftTask> tasks, double capacity) {
  double used = 0;
  for (const SoftTask& t : tasks) used += t.usage;
  std::vector<uint32_t> victims;
  std::vector<bool> gone(tasks.size());
  while (used > capacity) {
    std::optional<uint32_t> next;
    for (uint32_t i = 0; i < tasks.size(); ++i) {
      if (gone[i] || tasks[i].usage <= 0) continue;
      if (!next.has_value() || GoesBefore(tasks[i], tasks[*next], used - capacity)) next = i;
    }
    if (!next.has_value()) break;  // no task is left, so the excess is a rounding error
    gone[*next] = true;
    used -= tasks[*next].usage;
    victims.push_back(*next);
  }
  return victims;
}

}  // namespace taut::brain
