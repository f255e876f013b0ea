// What a pool charges: its tiers and prices, whose a job is, and what the machines cost.
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

struct PoolPrices {
  double cores = 0, memory_bytes = 0;  // capacity
  Price cost;                          // of its machines; without a date
  CostSharing idle = CostSharing::kPlatform;
};

// Jobs whose name fits the pattern; with bounds of the priority, only jobs that have one within them.
struct TierRule {
  std::string match;
  std::optional<int> least_priority, most_priority;  // both or neither; closed
  uint16_t tier = 0;                                 // index in the sheet
};

struct Pricing {
  PriceSheet sheet;
  std::vector<TierRule> tier_rules;  // the first that fits counts, else the job is of the first tier
  // The same with the group; else the name up to its first '/', which is the namespace in Kubernetes.
  std::vector<std::pair<std::string, std::string>> group_rules;
  std::optional<PoolPrices> pool;

  uint16_t TierOf(std::string_view job, std::optional<int> priority = std::nullopt) const;
  std::string GroupOf(std::string_view job) const;
  std::optional<std::string> GroupByRule(std::string_view job) const;  // absent: no rule fits
};

// What the pool has over [start_s, end_s).
CapacityWindow CapacityOf(const PoolPrices& pool, int64_t start_s, int64_t end_s);

}  // namespace taut::brain
