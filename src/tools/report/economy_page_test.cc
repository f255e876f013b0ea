#include "tools/report/economy_page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/economy_tables.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kCoreHour = brain::kMillicoreSecondsPerCoreHour,
                  kGibHour = brain::kMebibyteSecondsPerGibibyteHour;

// A day of a pool of 10 cores and 20 GiB, with two policies.
struct EconomyPageTest : testing::Test {
  EconomyPageTest() {
    sheet.currency = "EUR";
    for (const char* name : {"production", "<batch>"}) sheet.tiers.emplace_back().name = name;
    sheet.tiers[0].availability_ppm = sheet.tiers[0].obtainability_ppm = brain::kWholePpm;
    sheet.tiers[1].availability_ppm = sheet.tiers[1].obtainability_ppm = 980'000;
    result.tiers = {brain::TierSale::kReserved, brain::TierSale::kSlack};
    result.capacity = {kCoreHour * 10 / 12, kGibHour * 20 / 12};
    result.measured.assign(kWindowsPerDay, true);
    result.measured[7] = false;
    result.reserved.assign(kWindowsPerDay, PoolAmounts{kCoreHour * 8 / 12, 0});
    for (const SellerPolicy name : {SellerPolicy::kActuary, SellerPolicy::kClairvoyant}) {
      EconomyPolicy& policy = result.policies.emplace_back();
      policy.policy = name;
      policy.tiers.resize(2);
      policy.tiers[0].charges = {12'000'000};
      EconomyTier& batch = policy.tiers[1];
      batch.charges = {2'000'000'000};
      batch.credits = {10'000'000};
      batch.missed = {100'000'000};
      batch.penalty = {name == SellerPolicy::kActuary ? 900'000'000 : 100'000'000};
      batch.totals.jobs = 4;
      batch.totals.at_once = 3;
      batch.totals.never = 1;
      batch.totals.job_periods = 3;
      batch.totals.job_periods_kept = 2;
      batch.totals.wanted_steps = 200;
      batch.totals.ran_steps = 199;
      batch.totals.wanted = {1'000 * kCoreHour, 0};
      batch.totals.sums.allocation = {900 * kCoreHour, 0};
      batch.totals.sums.usage = {250 * kCoreHour, 0};
      policy.lines.assign(kWindowsPerDay, PoolLines());
      for (PoolLines& lines : policy.lines) lines.usage = {kCoreHour / 12, 0};
    }
  }
  brain::PriceSheet sheet;
  EconomyResult result;
  std::vector<std::string> groups = {"shop", "l&b", "idle"};
};

TEST_F(EconomyPageTest, TheHighestBillsComeFirst) {
  const auto bill = [](uint32_t group, int64_t micros) {
    brain::GroupBill out;
    out.group = group;
    out.sums.total = {micros};
    return out;
  };
  result.policies[0].bill.groups = {bill(0, 5'000'000), bill(1, 1'000'000)};
  result.policies[1].bill.groups = {bill(1, 7'000'000)};
  const EconomyTable bills = EconomyBillTable(result, groups, 2);
  EXPECT_THAT(bills.head, ElementsAre("group", "actuary", "clairvoyant"));
  ASSERT_EQ(bills.rows.size(), 3U);
  EXPECT_THAT(bills.rows[0], ElementsAre("l&b", "1.00", "7.00"));
  EXPECT_THAT(bills.rows[1], ElementsAre("shop", "5.00", "0.00"));
  EXPECT_THAT(bills.rows[2], ElementsAre("the first 2 of 3", "", ""));
  EXPECT_THAT(EconomyPage(result, sheet, groups, "t"), HasSubstr("<td>l&amp;b</td><td>1.00</td>"));
}

TEST_F(EconomyPageTest, TheTablesHaveWhatWasSoldAndKept) {
  const EconomyTable policies = EconomyPolicyTable(result, sheet);
  EXPECT_THAT(policies.rows.at(0), ElementsAre("actuary", "1,000", "90.0 %", "25.0 %", "0", "-", "-",
                                               "2,000.00", "10.00", "1,990.00", "1,000.00", "55.6 %"));
  EXPECT_EQ(policies.rows.at(1).back(), "100.0 %");
  const EconomyTable tiers = EconomyTierTable(result, sheet);
  ASSERT_EQ(tiers.rows.size(), 3U) << "production once";
  EXPECT_EQ(tiers.rows[0][0], "every policy");
  EXPECT_THAT(tiers.rows[1], ElementsAre("actuary", "<batch>", "98 %", "99.50 %", "66.7 %", "98 %", "75.00 %",
                                         "4", "0", "1", "0"));
  EXPECT_THAT(EconomyIntroduction(result, sheet),
              HasSubstr("the pool has 10.0 cores and 20.0 GiB; 1 day is"));
  EXPECT_THAT(EconomyIntroduction(result, sheet), Not(HasSubstr("grown past")));
  result.reserved[3][0] = kCoreHour;
  EXPECT_THAT(EconomyIntroduction(result, sheet),
              HasSubstr("in 5 min the limits of the reserved tiers had grown"));
}

TEST_F(EconomyPageTest, WithoutTheClairvoyantNothingIsComparedWithIt) {
  result.policies.pop_back();
  const EconomyTable policies = EconomyPolicyTable(result, sheet);
  EXPECT_EQ(policies.head.size(), 11U);
  EXPECT_EQ(policies.rows[0].size(), 11U);
}

TEST_F(EconomyPageTest, ThePageHasTablesAndTheFourLines) {
  const std::string page = EconomyPage(result, sheet, groups, "<b>trace</b>");
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;trace"));
  EXPECT_THAT(page, HasSubstr("&lt;batch&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<batch>")));
  EXPECT_THAT(page, HasSubstr("<h3>actuary, CPU</h3><svg"));
  EXPECT_THAT(page, HasSubstr(">reservation</text>"));
  EXPECT_THAT(page, HasSubstr("55.6 %"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("http"))) << "nothing from elsewhere";
}

}  // namespace
}  // namespace taut::tools
