#include "brain/economy/offers.h"

#include <algorithm>

namespace taut::brain {

PoolOffer OfferOf(double capacity, std::span<const TierSales> tiers) {
  PoolOffer pool;
  double reserved = 0;
  for (const TierSales& t : tiers) {
    pool.sold += t.sold;
    if (!t.quote.has_value()) reserved += t.sold;
  }
  for (const TierSales& t : tiers) {
    TierOffer offer{.tier = t.tier};
    if (t.quote.has_value()) {
      offer.sellable = t.quote->amount;
      offer.refusal = t.quote->refusal;
    } else {
      offer.sellable = std::max(0.0, capacity - (reserved - t.sold));
    }
    offer.left = std::max(0.0, offer.sellable - t.sold);
    offer.oversold = std::max(0.0, t.sold - offer.sellable);
    pool.tiers.push_back(offer);
  }
  return pool;
}

}  // namespace taut::brain
