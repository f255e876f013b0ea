#include "brain/economy/offers.h"

#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// A1, B1 and C1 use 20 each as Prod, so that 40 are left. 60 can be freed, so that A2, B2 and C2 can use 20 each
// as Batch. 120 are sold on a capacity of 100.
TEST(Offers, SellsAHundredAndTwentyOnAHundred) {
  Quote batch;
  batch.amount = 60;
  std::vector<TierSales> tiers = {{0, 60, std::nullopt}, {1, 0, batch}};
  PoolOffer offer = OfferOf(100, tiers);
  EXPECT_EQ(offer.tiers[0].left, 40);
  EXPECT_EQ(offer.tiers[1].left, 60);
  tiers[1].sold = 60;
  offer = OfferOf(100, tiers);
  EXPECT_EQ(offer.sold, 120);
  EXPECT_EQ(offer.tiers[1].left, 0);
  EXPECT_EQ(offer.tiers[1].oversold, 0);
  tiers[1].sold = 70;
  EXPECT_EQ(OfferOf(100, tiers).tiers[1].oversold, 10);
}

}  // namespace
}  // namespace taut::brain
