#include "server/config/budget_file.h"

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

TEST(BudgetFile, IsReadWhole) {
  const auto def = ParseBudgetFile(R"(
currency: EUR
period: quarter
units:
  - {name: credits, rates: [{rate: 0.50}, {from: 2027-01-01, rate: "0.55"}]}
businesses:
  - {name: retail, budget: 1000.50, carry_over: 50%, carry_cap: 200}
  - {name: media, budget: 20, unit: credits, carry_over: all}
groups:
  - {name: shop, shares: {retail: 66.67%, media: 33.33%}}
  - {name: web, funding: [{from: 2026-12-01, shares: {retail: 100%}}]}
  - {name: tools, when_spent: refuse}
)",
                                   "b.yaml");
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_EQ(def->period, brain::BudgetPeriod::kQuarter);
  EXPECT_EQ(def->units[0].rates[1].second, brain::Money{550'000});
  EXPECT_EQ(brain::DateText(*def->units[0].rates[1].first), "2027-01-01");
  EXPECT_EQ(def->businesses[0].per_period, brain::Money{1'000'500'000});
  EXPECT_EQ(def->businesses[0].carry.share_bp, 5000);
  EXPECT_EQ(def->businesses[0].carry.cap, brain::Money{200'000'000});
  EXPECT_EQ(def->businesses[1].carry.share_bp, 10'000);
  EXPECT_EQ(def->groups[0].funding[0].second[0].share_bp, 6667);
  EXPECT_EQ(brain::DateText(*def->groups[1].funding[0].first), "2026-12-01");
  EXPECT_TRUE(def->groups[2].funding.empty());
  EXPECT_EQ(def->groups[2].when_spent, brain::WhenSpent::kRefuse);
  EXPECT_EQ(def->groups[0].when_spent, brain::WhenSpent::kContinue);
}

TEST(BudgetFile, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "b.yaml: there are no businesses"},
      {"currenzy: EUR", "b.yaml:1: "},
      {"period: week", "b.yaml:1: period: \"week\": expected month, quarter or year"},
      {"businesses:\n- {name: a, budget: 1.1234567}",
       "b.yaml:2: budget: \"1.1234567\" is not an amount of money"},
      {"businesses:\n- {name: a, budget: 99999999999999}",
       "b.yaml:2: budget: \"99999999999999\" is out of range"},
      {"businesses:\n- {name: a, carry_over: some}",
       "carry_over: \"some\": expected none, all or a share such as 50%"},
      {"groups:\n- name: g\n  shares: {a: 0.7}",
       "b.yaml:3: a: \"0.7\": expected a share such as 70% or 33.33%"},
      {"groups:\n- name: g\n  shares: {a: 33.333%}", "expected a share such as 70% or 33.33%"},
      {"groups:\n- name: g\n  funding: [{from: 2026-13-01}]",
       "from: \"2026-13-01\": expected a date such as 2026-12-01"},
      {"groups:\n- {name: g, when_spent: stop}",
       "b.yaml:2: when_spent: \"stop\": expected one of continue, refuse"},
      {"groups: [g]", "groups: expected keys and values"}};
  for (const auto& [yaml, said] : cases) {
    const auto def = ParseBudgetFile(yaml, "b.yaml");
    EXPECT_THAT(std::string(Message(def.status())), ::testing::HasSubstr(said));
  }
}

}  // namespace
}  // namespace taut::server
