#include "server/config/price_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/byte_units.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

std::string PriceErrorOf(std::string_view yaml) {
  return std::string(Message(ParsePriceFile(yaml, "p.yaml").status()));
}

TEST(PriceFile, IsRead) {
  const absl::StatusOr<brain::Pricing> pricing = ParsePriceFile(R"(
currency: USD
tiers:
  - name: production
    rule: max_request_usage
    availability: 0.999
    prices:
      - {core_hour: 0.031, gib_hour: 0.0042}
      - {from: 2026-02-01, core_hour: 0.029, gib_hour: 0.0042}
  - {name: batch, rule: usage, prices: [{from: 12d, core_hour: 0.01, gib_hour: 0.001}]}
jobs:
  - {match: "batch/*|*/cronjob/*", tier: batch}
groups:
  - {match: "shop*", group: retail}
pool: {cores: 4000, memory: 16TiB, core_hour: 0.02, gib_hour: 0.003, idle: proportional}
)",
                                                                "p.yaml");
  ASSERT_TRUE(pricing.ok()) << pricing.status();
  EXPECT_EQ(pricing->sheet.currency, "USD");
  const brain::PriceTier& production = pricing->sheet.tiers[0];
  EXPECT_EQ(production.rule, brain::ChargeRule::kMaxRequestUsage);
  EXPECT_EQ(production.availability_ppm, 999'000);
  EXPECT_EQ(production.prices.at(1).from_s, 1'769'904'000);
  EXPECT_EQ(production.prices.at(1).per_hour[kCpuIndex].micros, 29'000);
  EXPECT_EQ(pricing->sheet.tiers[1].prices.at(0).from_s, 12 * 86'400);
  EXPECT_EQ(pricing->TierOf("shop/cronjob/clean"), 1U);
  EXPECT_EQ(pricing->TierOf("shop/deployment/web"), 0U);
  EXPECT_EQ(pricing->GroupOf("shop-eu/deployment/web"), "retail");
  EXPECT_EQ(pricing->GroupOf("lab/job/x"), "lab");
  EXPECT_EQ(pricing->pool->memory_bytes, 16 * kTiB);
  EXPECT_EQ(pricing->pool->idle, brain::CostSharing::kProportional);
}

TEST(PriceFile, OfUnixTimeDurationsAreRefusedWhateverTheirLength) {
  const auto error = [](std::string_view from) {
    const std::string yaml =
        StrCat("tiers:\n  - name: a\n    prices:\n      - {core_hour: 1}\n      - {from: ", from,
               ", core_hour: 2}\n");
    return std::string(Message(ParsePriceFile(yaml, "p.yaml", PriceClock::kDates).status()));
  };
  EXPECT_EQ(error("2026-09-04"), "");
  for (const std::string_view from : {"12d", "20700d", "1788480000"}) {
    EXPECT_EQ(error(from), StrCat("p.yaml:5: from: \"", from,
                                  "\": expected a date such as 2026-01-01; durations are of a trace with a "
                                  "clock of its own, and this is Unix time"));
  }
}

TEST(PriceFile, ATierMayBeThatOfAPriority) {
  const absl::StatusOr<brain::Pricing> pricing = ParsePriceFile(R"(
tiers:
  - {name: production, prices: [{core_hour: 1}]}
  - {name: batch, prices: [{core_hour: 1}]}
  - {name: free, prices: [{core_hour: 1}]}
jobs:
  - {match: "shop/*", priority: 100-119, tier: batch}
  - {priority: 0-99, tier: free}
  - {priority: 25, tier: batch}
)",
                                                                "p.yaml");
  ASSERT_TRUE(pricing.ok()) << pricing.status();
  EXPECT_EQ(pricing->TierOf("shop/a", 119), 1U);
  EXPECT_EQ(pricing->TierOf("lab/a", 119), 0U);
  EXPECT_EQ(pricing->TierOf("lab/a", 0), 2U);
  EXPECT_EQ(pricing->TierOf("lab/a", 25), 2U) << "the first that fits";
  EXPECT_EQ(pricing->TierOf("lab/a"), 0U) << "it has no priority";
  const auto error = [](const char* priority) {
    return PriceErrorOf(StrCat(
        "tiers:\n  - {name: a, prices: [{core_hour: 1}]}\njobs:\n  - {priority: ", priority, ", tier: a}"));
  };
  for (const char* wrong : {"9-1", "-1", "1.5", "high", "1-2-3"}) {
    EXPECT_EQ(error(wrong),
              StrCat("p.yaml:4: priority: \"", wrong, "\": expected a number or a range such as 120-359"));
  }
}

TEST(PriceFile, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(PriceErrorOf(""), "p.yaml: there are no tiers");
  EXPECT_EQ(PriceErrorOf("tier: []"), "p.yaml:1: unknown key \"tier\"; did you mean \"tiers\"?");
  EXPECT_EQ(PriceErrorOf("tiers:\n  - name: a\n    rul: usage"),
            "p.yaml:3: unknown key \"rul\"; did you mean \"rule\"?");
  EXPECT_EQ(PriceErrorOf("tiers:\n  - {name: a, rule: used}"),
            "p.yaml:2: unknown charge rule \"used\": expected reservation, usage, usage_slack_tax, "
            "max_request_usage or peak");
  EXPECT_EQ(PriceErrorOf("tiers:\n  - {name: a, prices: [{core_hour: 1,5}]}"), "p.yaml:2: unknown key \"5\"");
  EXPECT_EQ(PriceErrorOf("tiers:\n  - {name: a, prices: [{core_hour: free}]}"),
            "p.yaml:2: \"free\" is not an amount of money: expected digits, then at most a point and 1 to 6 "
            "digits, as in "
            "\"12.50\"");
  EXPECT_EQ(
      PriceErrorOf("tiers: [{name: a, prices: [{from: soon}]}]"),
      "p.yaml:1: from: \"soon\" is not a date; expected one such as 2026-01-01, or 12d on the trace's clock");
  EXPECT_EQ(PriceErrorOf("tiers: [{name: a}]"), "p.yaml: price sheet: tier \"a\" has no price");
  EXPECT_EQ(PriceErrorOf("tiers: [{name: a, prices: [{core_hour: 1}]}]\njobs:\n  - {match: x, tier: b}"),
            "p.yaml:3: \"b\" is not a tier; did you mean \"a\"?");
  EXPECT_EQ(PriceErrorOf("tiers: [{name: a, availability: 98, prices: []}]"),
            "p.yaml:1: availability: \"98\": expected a share from 0 to 1, such as 0.98");
  EXPECT_EQ(PriceErrorOf("tiers: 3"), "p.yaml:1: tiers must be a list: lines that begin with -");
}

}  // namespace
}  // namespace taut::server
