// Detects that a changed price file alters past bills. A bill uses the current prices, so an edited price
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
  std::string what;              // "tier production: 0.04 per core-hour, was 0.031"
  bool operator==(const PriceChange&) const = default;
};

// A change, and the time when it was noticed.
struct SeenPriceChange {
  int64_t seen_s = 0;  // time when a daemon first read the change
  PriceChange change;
  bool operator==(const SeenPriceChange&) const = default;
};

// Returns the changes that affect times before now_s, in the order of the sheet; empty if no past bill changes. A
// new tier changes no bill until a rule assigns jobs to the tier. Rules have no date and apply to all times, so a
// changed rule affects the whole past, which starts at the lowest time of a price (a price without `from` in the
// price file). O(prices).
std::vector<PriceChange> ChangesBefore(const Pricing& before, const Pricing& after, int64_t now_s);

}  // namespace taut::brain
