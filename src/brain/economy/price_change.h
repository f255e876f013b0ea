// Detects changes of a price file that alter past bills. A bill uses the current prices, so that an edited price
// changes bills that people have already seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "brain/economy/pricing.h"

namespace taut::brain {

// A change that affects bills of the past.
struct PriceChange {
  int64_t from_s = 0, to_s = 0;  // usage in [from_s, to_s) is billed differently
  std::string what;              // description, such as "tier production: 0.04 per core-hour, was 0.031"
  bool operator==(const PriceChange&) const = default;
};

// A change, and the time at which a daemon first noticed it.
struct SeenPriceChange {
  int64_t seen_s = 0;  // seconds since the epoch
  PriceChange change;
  bool operator==(const SeenPriceChange&) const = default;
};

// Returns the changes that affect times before now_s, in the order of the sheet; empty if no past bill changes. A
// new tier changes no bill until a rule assigns jobs to the tier. Rules have no date and apply to all times, so
// that a changed rule affects the whole past. The past starts at -kMaxBillSeconds, the time of a price without
// `from`. O(prices).
std::vector<PriceChange> ChangesBefore(const Pricing& before, const Pricing& after, int64_t now_s);

}  // namespace taut::brain
