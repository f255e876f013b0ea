// Computes the amount that each tier of a pool can still sell.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "brain/economy/actuary.h"

namespace taut::brain {

// Sales of a tier.
struct TierSales {
  int tier = 0;
  double sold = 0;             // amount already sold for the time of the offer, >= 0
  std::optional<Quote> quote;  // quote of the tier; absent if the tier sells reserved capacity
};

// Amounts that a tier has sold and can still sell.
struct TierOffer {
  int tier = 0;
  double sellable = 0;  // total amount, including `sold`; 0 if the quote is refused
  double left = 0;      // sellable - sold, at least 0
  double oversold = 0;  // sold - sellable, at least 0
  Refusal refusal = Refusal::kNone;
};

// Offers of all tiers of a pool.
struct PoolOffer {
  std::vector<TierOffer> tiers;  // offers, in the order of the argument `tiers`
  double sold = 0;               // amount sold over all tiers; may exceed the capacity
};

// Returns the offers of all tiers. Reserved tiers share the capacity. Any other tier sells its quote, which
// already accounts for the use of the tiers above. O(tiers).
PoolOffer OfferOf(double capacity, std::span<const TierSales> tiers);

}  // namespace taut::brain
