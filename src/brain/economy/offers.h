// Computes what each tier of a pool can still sell.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "brain/economy/actuary.h"

namespace taut::brain {

// Sales of a tier.
struct TierSales {
  int tier = 0;
  double sold = 0;             // sold for the time in question, >= 0
  std::optional<Quote> quote;  // absent: a tier that sells reserved capacity of the pool
};

// What a tier can still sell.
struct TierOffer {
  int tier = 0;
  double sellable = 0;  // total, including what is sold; 0 if refused
  double left = 0;      // sellable less sold, >= 0
  double oversold = 0;  // sold beyond `sellable`, >= 0
  Refusal refusal = Refusal::kNone;
};

// Offers of all tiers of a pool.
struct PoolOffer {
  std::vector<TierOffer> tiers;  // in the order of the argument
  double sold = 0;               // over all tiers; may exceed the capacity
};

// Returns the offer. Reserved tiers share the capacity. Any other tier has its quote, which already accounts
// for the use of the tiers above it. O(tiers).
PoolOffer OfferOf(double capacity, std::span<const TierSales> tiers);

}  // namespace taut::brain
