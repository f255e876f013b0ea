#include "brain/economy/pricing.h"

#include <algorithm>
#include <cmath>

#include "common/base/byte_units.h"
#include "common/base/pattern.h"

namespace taut::brain {

uint16_t Pricing::TierOf(std::string_view job, std::optional<int> priority) const {
  for (const TierRule& rule : tier_rules) {
    const bool in_bounds =
        !rule.least_priority.has_value() ||
        (priority.has_value() && *rule.least_priority <= *priority && *priority <= *rule.most_priority);
    if (in_bounds && FitsPattern(job, rule.match)) return rule.tier;
  }
  return 0;
}

std::optional<std::string> Pricing::GroupByRule(std::string_view job) const {
  for (const auto& [pattern, group] : group_rules) {
    if (FitsPattern(job, pattern)) return group;
  }
  return std::nullopt;
}

std::string Pricing::GroupOf(std::string_view job) const {
  if (std::optional<std::string> group = GroupByRule(job); group.has_value()) return *std::move(group);
  // A job of a trace has no namespace, but the first part of its name denotes the group
  // (docs/reference/formats.md).
  return std::string(job.substr(0, job.find('/')));
}

CapacityWindow CapacityOf(const PoolPrices& pool, int64_t start_s, int64_t end_s) {
  const auto seconds = static_cast<double>(end_s - start_s);
  const auto quantity = [&](double amount) {
    return static_cast<uint64_t>(std::llround(std::min(amount, 1e12) * seconds));
  };
  CapacityWindow out;
  out.start_s = start_s;
  out.end_s = end_s;
  out.capacity = {quantity(pool.cores * 1000), quantity(pool.memory_bytes / kMiB)};
  return out;
}

}  // namespace taut::brain
