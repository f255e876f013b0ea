#include "brain/economy/price_sheet.h"

#include <functional>
#include <string>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using testing::HasSubstr;

PriceSheet Sheet() {
  PriceSheet sheet = DefaultTiers();
  for (PriceTier& tier : sheet.tiers)
    tier.prices = {{100, {Money{30'000}, Money{4'000}}}, {200, {Money{20'000}, Money{3'000}}}};
  return sheet;
}

TEST(PriceSheet, DefaultTiersAreByPriority) {
  const PriceSheet sheet = Sheet();
  EXPECT_TRUE(sheet.Check(kDefaultTierNames).ok());
  for (uint16_t i = 0; i < std::size(kDefaultTierNames); ++i)
    EXPECT_EQ(sheet.TierNamed(kDefaultTierNames[i]), i);
  EXPECT_EQ(sheet.TierNamed("gold"), std::nullopt);
}

TEST(PriceSheet, PricesAreHalfOpen) {
  const PriceTier tier = Sheet().tiers[0];
  EXPECT_EQ(tier.PriceAt(99), std::nullopt);
  EXPECT_EQ(tier.PriceAt(100), 0U);
  EXPECT_EQ(tier.PriceAt(199), 0U);
  EXPECT_EQ(tier.PriceAt(200), 1U);
  EXPECT_EQ(tier.PriceAt(1'000'000), 1U);
}

TEST(PriceSheet, CheckNamesWhatIsWrong) {
  const auto wrong = [](const std::function<void(PriceSheet&)>& change) {
    PriceSheet sheet = Sheet();
    change(sheet);
    const std::string_view required[] = {"batch"};
    return std::string(Message(sheet.Check(required)));
  };
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers.clear(); }), HasSubstr("no tier"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[3].name = "b"; }), HasSubstr("tier \"batch\" is missing"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[0].name = ""; }), HasSubstr("tier 1 has no name"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[1].name = "free"; }),
              HasSubstr("two tiers have the name \"free\""));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[0].availability_ppm = 1'000'001; }),
              HasSubstr("the availability of tier \"monitoring\" is 1000001 ppm; allowed are 0 to 1000000"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[0].obtainability_ppm = -1; }), HasSubstr("obtainability"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[0].service_credit_ppm = -1; }), HasSubstr("service credit"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[0].prices.clear(); }), HasSubstr("has no price"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[0].prices[1].from_s = 100; }),
              HasSubstr("tier \"monitoring\" has two prices from day 0 00:01"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[0].prices[1].from_s = 50; }), HasSubstr("order of time"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[0].prices[1].per_hour[kMemoryIndex] = {-1}; }),
              HasSubstr("memory price -0.000001 from day 0 00:03; it must not be negative"));
  EXPECT_THAT(wrong([](PriceSheet& s) { s.tiers[1].prices[0].per_hour[kCpuIndex] = {1'000'000'000'001}; }),
              HasSubstr("cpu price 1000000.000001 from day 0 00:01; allowed are 0 to 1000000.00"));
}

TEST(ChargeRules, AreFoundByName) {
  for (const ChargeRuleInfo& info : ChargeRules()) {
    EXPECT_EQ(*ChargeRuleNamed(info.name), info.rule);
    EXPECT_EQ(Name(info.rule), info.name);
  }
  EXPECT_THAT(std::string(Message(ChargeRuleNamed("flat").status())),
              HasSubstr("unknown charge rule \"flat\": expected reservation, usage, usage_slack_tax"));
}

}  // namespace
}  // namespace taut::brain
