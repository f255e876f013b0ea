// What a pool charges: tiers and prices, which tier and group a job belongs to, and the cost of machines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "brain/economy/bill.h"
#include "brain/economy/metering.h"
#include "brain/economy/price_sheet.h"

namespace taut::brain {

// Capacity and cost of the pool's machines.
struct PoolPrices {
  double cores = 0, memory_bytes = 0;  // capacity
  Price cost;                          // cost of its machines; from_s is unused
  CostSharing idle = CostSharing::kPlatform;
};

// Matches jobs by a pattern of the name; with bounds, only jobs with a priority within them.
struct TierRule {
  std::string match;
  std::optional<int> least_priority, most_priority;  // both or neither; inclusive
  uint16_t tier = 0;                                 // index in the sheet
};

// The content of a price file.
struct Pricing {
  PriceSheet sheet;
  // The first match counts; without one, a job belongs to the first tier.
  std::vector<TierRule> tier_rules;
  // Rules for the group; the default is the name up to its first '/', the namespace in Kubernetes.
  std::vector<std::pair<std::string, std::string>> group_rules;
  std::optional<PoolPrices> pool;

  // Returns the tier's index for a job. O(rules).
  uint16_t TierOf(std::string_view job, std::optional<int> priority = std::nullopt) const;
  // Returns the group of a job by rule or by name. O(rules).
  std::string GroupOf(std::string_view job) const;
  std::optional<std::string> GroupByRule(std::string_view job) const;  // absent: no rule matches
};

// Returns the pool's capacity in [start_s, end_s).
CapacityWindow CapacityOf(const PoolPrices& pool, int64_t start_s, int64_t end_s);

}  // namespace taut::brain
