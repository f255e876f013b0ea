#include "tools/sim/tier_seller.h"

#include <limits>

#include "common/base/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kCore = 1000 * kWindowSeconds, kGib = 1024 * kWindowSeconds;

TierSellerOptions HundredCores() {
  TierSellerOptions out;
  out.capacity = {100 * kCore, 1000 * kGib};
  out.availability_ppm = 900'000;
  out.horizon_steps = 12;
  return out;
}

std::unique_ptr<TierSeller> Make(SellerPolicy policy, const PoolFuture* future = nullptr) {
  auto made = NewTierSeller(policy, HundredCores(), future);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// Observes `steps` steps in which the higher tiers use `use` of 100 cores.
void Observe(TierSeller& seller, int steps, double use) {
  for (int i = 0; i < steps; ++i) seller.Observe({use * kCore, 0}, {(100 - use) * kCore, 1000.0 * kGib});
}

SaleRequest Asking(int64_t cores, int64_t sold_cores, int64_t step = 0) {
  SaleRequest out;
  out.step = step;
  out.last_step = step;
  out.ask = {cores * kCore, kGib};
  out.sold = {sold_cores * kCore, 0};
  return out;
}

TEST(TierSeller, GreedySellsWhatIsAvailableOverThePromise) {
  const auto seller = Make(SellerPolicy::kGreedy);
  EXPECT_FALSE(seller->Grants(Asking(1, 0)));
  EXPECT_EQ(seller->Why(Asking(1, 0)), "greedy sells no cpu: nothing is measured yet");
  Observe(*seller, 1, 55);
  EXPECT_TRUE(seller->Grants(Asking(30, 20, 1))) << "45 / 0.9 are 50";
  EXPECT_FALSE(seller->Grants(Asking(31, 20, 1)));
  EXPECT_EQ(seller->Why(Asking(31, 20, 1)),
            "greedy sells 50 cores in all, of which 20 are sold and 31 asked for");
}

TEST(TierSeller, UnreservedSellsWhatIsNotBought) {
  const auto seller = Make(SellerPolicy::kUnreserved);
  SaleRequest request = Asking(40, 0);
  request.bought = {60 * kCore, 0};
  EXPECT_TRUE(seller->Grants(request));
  request.step = 1;  // a quote is valid for its own step only
  request.bought[0] += 1;
  EXPECT_FALSE(seller->Grants(request));
}

TEST(TierSeller, NeitherResourceMayBeTooLittle) {
  const auto seller = Make(SellerPolicy::kGreedy);
  Observe(*seller, 1, 55);
  SaleRequest request = Asking(1, 0, 1);
  request.ask[1] = 1112 * kGib;
  EXPECT_FALSE(seller->Grants(request));
  EXPECT_THAT(seller->Why(request), HasSubstr("1111.11 GiB of memory in all"));
}

// If usage is constant, the actuary needs a day of history and enough samples. Then it sells nearly all of the
// remaining capacity.
TEST(TierSeller, TheActuaryRefusesWithoutHistoryAndThenSells) {
  const auto seller = Make(SellerPolicy::kActuary);
  Observe(*seller, 100, 60);
  EXPECT_FALSE(seller->Grants(Asking(1, 0, 100)));
  EXPECT_THAT(seller->Why(Asking(1, 0, 100)), HasSubstr("actuary sells no cpu: Refused: "));
  Observe(*seller, 7 * kWindowsPerDay, 60);
  const int64_t now = 100 + 7 * kWindowsPerDay;
  EXPECT_TRUE(seller->Grants(Asking(35, 0, now))) << seller->Why(Asking(35, 0, now));
  EXPECT_FALSE(seller->Grants(Asking(41, 0, now)));
}

// In the first period, 40 cores are available in 18 of 20 steps, and 10 cores in 2 steps. In the second period, 40
// cores are available in 8 of 10 steps.
struct ClairvoyantTest : testing::Test {
  ClairvoyantTest() {
    for (int step = 0; step < 30; ++step) {
      const bool scarce = step == 3 || step == 4 || step == 25 || step == 26;
      future.available[0].push_back((scarce ? 10.0 : 40.0) * kCore);
      future.available[1].push_back(1000.0 * kGib);
      future.period.push_back(step < 20 ? 0 : 1);
    }
  }
  SaleRequest Ask(uint32_t job, int64_t step, int64_t last) const {
    SaleRequest out;
    out.job = job;
    out.step = step;
    out.last_step = last;
    return out;
  }
  static std::vector<AskChange> Always(int64_t cores) { return {{0, {cores * kCore, kGib}}}; }
  PoolFuture future;
};

TEST_F(ClairvoyantTest, KeepsEveryPeriod) {
  const std::vector<std::vector<AskChange>> asks(2, Always(40));
  future.asks = asks;
  const auto seller = Make(SellerPolicy::kClairvoyant, &future);
  EXPECT_TRUE(seller->Grants(Ask(0, 0, 19))) << "18 of 20 are 90 %";
  EXPECT_FALSE(seller->Grants(Ask(1, 0, 29))) << "8 of 10 are not";
  EXPECT_THAT(seller->Why(Ask(1, 0, 29)), HasSubstr("will not be available"));
  EXPECT_FALSE(seller->Grants(Ask(1, 26, 29))) << "1 of 4 is missed";
  EXPECT_TRUE(seller->Grants(Ask(1, 27, 29)));
}

TEST_F(ClairvoyantTest, KnowsWhenSoldJobsEndAndGrow) {
  // Job 0 requests 30 cores until step 14. Job 1 requests 11, and job 2 requests 11 and later 41. Job 3 has usage
  // from step 18 on.
  const std::vector<std::vector<AskChange>> asks = {Always(30),
                                                    Always(11),
                                                    {{0, {11 * kCore, kGib}}, {17, {41 * kCore, kGib}}},
                                                    {{0, {-1, -1}}, {18, {29 * kCore, kGib}}}};
  future.asks = asks;
  const auto seller = Make(SellerPolicy::kClairvoyant, &future);
  EXPECT_FALSE(seller->Grants(Ask(0, 0, 9))) << "2 of 10 are missed";
  ASSERT_TRUE(seller->Grants(Ask(0, 5, 14)));
  seller->Sold(Ask(0, 5, 14));
  EXPECT_FALSE(seller->Grants(Ask(1, 5, 19)));
  ASSERT_TRUE(seller->Grants(Ask(1, 15, 19))) << "job 0 has ended";
  seller->Sold(Ask(1, 15, 19));
  EXPECT_FALSE(seller->Grants(Ask(2, 15, 19))) << "it grows";
  EXPECT_TRUE(seller->Grants(Ask(3, 5, 19))) << "beside job 0 it asks for nothing";
}

TEST(TierSeller, NamesWhatIsWrong) {
  EXPECT_EQ(SellerPolicyNamed("actuary").value(), SellerPolicy::kActuary);
  EXPECT_THAT(std::string(SellerPolicyNamed("x").status().message()),
              HasSubstr("unknown policy \"x\": expected none,"));
  for (const SellerPolicyInfo& info : SellerPolicies()) EXPECT_EQ(Name(info.policy), info.name);
  TierSellerOptions options = HundredCores();
  options.availability_ppm = 0;
  EXPECT_FALSE(NewTierSeller(SellerPolicy::kGreedy, options, nullptr).ok());
  options = HundredCores();
  options.capacity[1] = 0;
  EXPECT_FALSE(NewTierSeller(SellerPolicy::kGreedy, options, nullptr).ok());
  options = HundredCores();
  options.horizon_steps = 0;
  EXPECT_FALSE(NewTierSeller(SellerPolicy::kActuary, options, nullptr).ok());
  EXPECT_FALSE(NewTierSeller(SellerPolicy::kClairvoyant, HundredCores(), nullptr).ok());
}

}  // namespace
}  // namespace taut::tools
