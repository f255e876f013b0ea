#include "tools/report/economy_page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/document_fixture.h"
#include "tools/report/economy_tables.h"

namespace taut::tools {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kCoreHour = brain::kMillicoreSecondsPerCoreHour,
                  kGibHour = brain::kMebibyteSecondsPerGibibyteHour;

// Result of one day of a pool of 10 cores and 20 GiB, under two policies.
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
  const Json page = Parsed(EconomyDocument(result, sheet, groups, "t"));
  EXPECT_EQ(PartsOf(page, "Bills, EUR", "table").at(0)["rows"][0], Json({"l&b", "1.00", "7.00"}));
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

TEST_F(EconomyPageTest, ThePageHasTheAnswerTablesAndTheFourLines) {
  const Json page = Parsed(EconomyDocument(result, sheet, groups, "<b>trace</b>"));
  EXPECT_EQ(page["title"], "<b>trace</b>");
  EXPECT_EQ(AnswerText(page),
            "Below the reserved tiers, actuary earns a strict net of 1,000.00 EUR, "
            "0.555555555556 of the clairvoyant's.");
  const Json policies = PartsOf(page, "What each policy sells below the reserved tiers", "table").at(0);
  EXPECT_THAT(HeadsOf(policies), Contains("sold, core-hours"));
  EXPECT_THAT(HeadsOf(policies), Contains("of clairvoyant")) << "a terminal cuts the word";
  EXPECT_EQ(policies["columns"][10]["unit"], "EUR") << "the strict net";
  EXPECT_EQ(policies["rows"][0].back(), "55.6 %");
  EXPECT_TRUE(policies["rows"][0][5].is_null()) << "no memory was sold";
  EXPECT_EQ(PartsOf(page, "Promises and what was kept", "table").at(0)["rows"][1][1], "<batch>");
  EXPECT_EQ(PartsOf(page, "Bills, EUR", "table").at(0)["columns"][1]["unit"], "EUR");
  const std::vector<Json> lines = PartsOf(page, "The four lines", "chart");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["title"], "actuary, CPU");
  EXPECT_EQ(lines[1]["y"]["unit"], "GiB");
  EXPECT_THAT(NamesOf(lines[0]["series"]), ElementsAre("usage", "allocation", "reservation", "capacity"));
  EXPECT_EQ(lines[0]["series"][3]["y"][0], 10) << "cores";
  EXPECT_EQ(DocumentJson(EconomyDocument(result, sheet, groups, "t")),
            DocumentJson(EconomyDocument(result, sheet, groups, "t")));
}

}  // namespace
}  // namespace taut::tools
