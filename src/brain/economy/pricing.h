// Pricing of a pool: tiers and prices, rules that assign jobs to tiers and groups, and the cost of machines.
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
  double cores = 0, memory_bytes = 0;  // capacity of the pool
  Price cost;                          // rates of the machines' cost; from_s is unused
  CostSharing idle = CostSharing::kPlatform;
};

// A rule that assigns jobs to a tier. Matches jobs by a pattern of the name, and by priority if the bounds are
// set.
struct TierRule {
  std::string match;
  std::optional<int> least_priority, most_priority;  // inclusive bounds of the priority; both are set or none
  uint16_t tier = 0;                                 // index of the tier in the sheet
};

// The content of a price file.
struct Pricing {
  PriceSheet sheet;
  // The first rule that matches determines the tier. A job without a matching rule belongs to the first tier.
  std::vector<TierRule> tier_rules;
  // Pairs of a pattern of job names and a group. The default group is the job's name up to the first '/', which
  // is the namespace in Kubernetes.
  std::vector<std::pair<std::string, std::string>> group_rules;
  std::optional<PoolPrices> pool;

  // Returns the tier's index for a job. O(rules).
  uint16_t TierOf(std::string_view job, std::optional<int> priority = std::nullopt) const;
  // Returns the group of a job by rule or by name. O(rules).
  std::string GroupOf(std::string_view job) const;
  // Returns the group by rule; nullopt if no rule matches.
  std::optional<std::string> GroupByRule(std::string_view job) const;
};

// Returns the pool's capacity and cost in [start_s, end_s).
CapacityWindow CapacityOf(const PoolPrices& pool, int64_t start_s, int64_t end_s);

}  // namespace taut::brain
