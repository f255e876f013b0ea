#include "brain/economy/focus_csv.h"

#include <map>
#include <vector>

#include "brain/economy/bill_cases_fixture.h"
#include "common/base/random.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using testing::HasSubstr;

constexpr int64_t kFocusDay = 86'400;

// Splits rows into fields. Unquoted values contain no comma.
std::vector<std::vector<std::string>> FieldsOf(std::string_view rows) {
  std::vector<std::vector<std::string>> out;
  for (const std::string_view row : taut::Split(rows, '\n')) {
    if (row.empty()) continue;
    out.emplace_back();
    size_t from = 0;
    // A description contains a comma and is therefore quoted.
    bool quoted = false;
    for (size_t i = 0; i <= row.size(); ++i) {
      if (i < row.size() && row[i] == '"') quoted = !quoted;
      if (i < row.size() && (row[i] != ',' || quoted)) continue;
      out.back().emplace_back(row.substr(from, i - from));
      from = i + 1;
    }
  }
  return out;
}

TEST(FocusCsv, EveryRowHasTheColumnsOfTheHeader) {
  PriceSheet sheet;
  sheet.currency = "EUR";
  sheet.tiers.push_back({});
  sheet.tiers[0].name = "production";
  sheet.tiers[0].prices = {{0, {Money{30'000}, Money{}}}, {kFocusDay + 43'200, {Money{40'000}, Money{}}}};
  JobBill job;
  job.lines.push_back({.key = {},
                       .rate = {30'000},
                       .quantity = kMillicoreSecondsPerCoreHour,
                       .amount = {30'000},
                       .credit = {10'000}});
  job.sums.idle = {1};
  FocusCsv csv(sheet, {0, 30 * kFocusDay, kFocusDay, 2 * kFocusDay});
  const auto head = FieldsOf(FocusCsv::Header()), rows = FieldsOf(csv.RowsOf(job, "shop/web", "shop"));
  ASSERT_EQ(rows.size(), 3U);
  std::map<std::string, std::string> first;
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), head[0].size());
    for (size_t i = 0; i < row.size(); ++i) first.try_emplace(head[0][i], row[i]);
  }
  EXPECT_EQ(first["BilledCost"], "0.03");
  EXPECT_EQ(first["ResourceId"], "shop/web");
  EXPECT_EQ(first["SubAccountId"], "shop");
  EXPECT_EQ(first["BillingPeriodEnd"], "1970-01-31T00:00:00Z");
  EXPECT_EQ(first["ChargePeriodStart"], "1970-01-02T00:00:00Z");
  EXPECT_EQ(first["ChargePeriodEnd"], "1970-01-02T12:00:00Z") << "then the next price is valid";
  EXPECT_THAT(csv.RowsOf(job, "shop/web", "shop"),
              HasSubstr("Recurring,1970-01-03T00:00:00Z,1970-01-02T00:00:00Z"));
  EXPECT_EQ(first["ConsumedQuantity"], "1.000000");
  EXPECT_EQ(rows[1][0], "-0.01");
  EXPECT_EQ(rows[2][0], "0.000001");
}

TEST(FocusCsv, NamesThatASpreadsheetWouldRunAreText) {
  PriceSheet sheet;
  JobBill job;
  job.sums.idle = {1};
  const std::string row = FocusCsv(sheet, {}).RowsOf(job, "=cmd()", "a,b");
  EXPECT_THAT(row, HasSubstr(",'=cmd(),"));
  EXPECT_THAT(row, HasSubstr(",\"a,b\","));
}

TEST(FocusCsv, BilledCostAddsUpToTheBillOfRandomCases) {
  constexpr ChargeRule kRules[] = {ChargeRule::kUsage, ChargeRule::kReservation, ChargeRule::kMaxRequestUsage,
                                   ChargeRule::kUsageSlackTax};
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    const BillCase c = RandomBillCase(rng, kRules);
    const absl::StatusOr<Bill> bill = c.Make();
    if (!bill.ok()) continue;
    FocusCsv csv(c.sheet, {0, BillCase::kSeconds, 0, BillCase::kSeconds});
    Money sum;
    for (const JobBill& job : bill->jobs) {
      Money of_job;
      for (const auto& row : FieldsOf(csv.RowsOf(job, "job", "group")))
        of_job.micros += ParseMoney(row[0])->micros;
      ASSERT_EQ(of_job, job.sums.total);
      sum.micros += of_job.micros;
    }
    ASSERT_EQ(sum, bill->sums.total) << "case " << i;
  }
}

}  // namespace
}  // namespace taut::brain
