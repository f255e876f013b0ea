// What a changed price file bills otherwise of the past: a bill is made of the prices that are there now, so an
// edited price changes bills that people have already seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "brain/economy/pricing.h"

namespace taut::brain {

struct PriceChange {
  int64_t from_s = 0, to_s = 0;  // [from_s, to_s): usage of this time is billed otherwise
  std::string what;              // "tier production: 0.04 per core-hour, was 0.031"
  bool operator==(const PriceChange&) const = default;
};

struct SeenPriceChange {
  int64_t seen_s = 0;  // when a daemon first read it
  PriceChange change;
  bool operator==(const SeenPriceChange&) const = default;
};

// Of times before now_s, in the order of the sheet; empty if all bills of the past stay as they are. A tier that
// is new changes none until a rule gives it jobs, and rules without a date count for all times: their change is
// one of the whole past, which begins at the least time that a price has (price_file: no `from`). O(prices).
std::vector<PriceChange> ChangesBefore(const Pricing& before, const Pricing& after, int64_t now_s);

}  // namespace taut::brain
