// What each tier of a pool can still be sold.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "brain/economy/actuary.h"

namespace taut::brain {

struct TierSales {
  int tier = 0;
  double sold = 0;             // for the time in question, >= 0
  std::optional<Quote> quote;  // unset: a tier whose capacity is reserved in full, from the pool's own
};

struct TierOffer {
  int tier = 0;
  double sellable = 0;  // in all; 0 if refused
  double left = 0;      // >= 0
  double oversold = 0;  // sold beyond it
  Refusal refusal = Refusal::kNone;
};

struct PoolOffer {
  std::vector<TierOffer> tiers;  // in the order given
  double sold = 0;               // in all tiers; may exceed the capacity
};

// Reserved tiers share the capacity; each other tier has its quote, which already counts with the use of the
// tiers above it.
PoolOffer OfferOf(double capacity, std::span<const TierSales> tiers);

}  // namespace taut::brain
