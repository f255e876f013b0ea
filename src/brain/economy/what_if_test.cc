#include "brain/economy/what_if.h"

#include <string>

#include "brain/economy/bill_cases_fixture.h"
#include "common/testing/test_scale.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using testing::HasSubstr;

constexpr ChargeRule kRules[] = {ChargeRule::kReservation, ChargeRule::kUsage, ChargeRule::kUsageSlackTax,
                                 ChargeRule::kMaxRequestUsage, ChargeRule::kPeak};

std::vector<UsageEntry> EntriesOf(const BillCase& c, const JobBill& job) {
  std::vector<UsageEntry> out;
  for (const UsageEntry& entry : c.entries) {
    if (entry.group == job.group && entry.job == job.job) out.push_back(entry);
  }
  return out;
}

int64_t Rounding(const BillCase& c, const Bill& bill) {
  return static_cast<int64_t>(8 * bill.slack.size() * (1 + c.entries.size())) * c.MostOfAUnit() + 100;
}

TEST(WhatIf, NoChangeChangesNothing) {
  Rng rng(21);
  for (int i = 0; i < Scaled(1000); ++i) {
    const BillCase c = RandomBillCase(rng, kRules);
    const Bill bill = *c.Make();
    for (const JobBill& job : bill.jobs) {
      const ChangedCharges charges = *WhatIf(c.sheet, c.windows, c.options, bill, EntriesOf(c, job), {});
      EXPECT_EQ(charges.difference, Money{});
      EXPECT_NEAR(static_cast<double>(charges.before.sums.charges.micros),
                  static_cast<double>(job.sums.charges.micros), static_cast<double>(Rounding(c, bill)));
    }
  }
}

// The result of WhatIf equals a bill of the changed entries.
TEST(WhatIf, IsWhatTheBillWouldBe) {
  Rng rng(22);
  for (int i = 0; i < Scaled(1500); ++i) {
    BillCase c = RandomBillCase(rng, kRules);
    const Bill bill = *c.Make();
    if (bill.jobs.empty()) continue;
    const JobBill job = bill.jobs[rng.Below(bill.jobs.size())];
    const std::vector<UsageEntry> entries = EntriesOf(c, job);
    ChargeChange change;
    change.scale.request_ppm = static_cast<int64_t>(rng.Below(3)) * kWholePpm;
    change.scale.reservation_ppm = static_cast<int64_t>(1 + rng.Below(3)) * kWholePpm;
    const bool moved = rng.Below(2) == 0;
    if (moved) change.tier = static_cast<uint16_t>(rng.Below(c.sheet.tiers.size()));
    const ChangedCharges charges = *WhatIf(c.sheet, c.windows, c.options, bill, entries, change);
    for (UsageEntry& entry : c.entries) {
      if (entry.group != job.group || entry.job != job.job) continue;
      if (moved) entry.tier = *change.tier;
      for (UsageQuantities& q : entry.of) {
        q.request *= static_cast<uint64_t>(change.scale.request_ppm / kWholePpm);
        q.reservation *= static_cast<uint64_t>(change.scale.reservation_ppm / kWholePpm);
        if (moved && q.reservation == 0) q.reservation = q.request;
      }
    }
    const Bill after = *c.Make();
    for (const JobBill& j : after.jobs) {
      if (j.group != job.group || j.job != job.job) continue;
      EXPECT_NEAR(static_cast<double>(charges.after.sums.total.micros),
                  static_cast<double>(j.sums.charges.micros - j.sums.credits.micros),
                  static_cast<double>(Rounding(c, after)));
    }
  }
}

class WhatIfOfOneJob : public testing::Test {
 protected:
  WhatIfOfOneJob() {
    const auto add = [this](ChargeRule rule, std::string_view rate) {
      PriceTier tier;
      tier.name = Name(rule);
      tier.rule = rule;
      tier.prices = {{0, {*ParseMoney(rate), Money{}}}};
      sheet_.tiers.push_back(tier);
    };
    add(ChargeRule::kReservation, "1");
    add(ChargeRule::kUsage, "0.25");
    add(ChargeRule::kPeak, "0.50");
    entry_.end_s = 3600;
    entry_.tier = 1;
    entry_.of[0] = {2 * kMillicoreSecondsPerCoreHour, 8 * kMillicoreSecondsPerCoreHour, 0, 4000};
    bill_ = *MakeBill(sheet_, {}, std::span(&entry_, 1));
  }
  absl::StatusOr<ChangedCharges> Ask(const ChargeChange& change) {
    return WhatIf(sheet_, {}, {}, bill_, std::span(&entry_, 1), change);
  }
  std::string After(const ChargeChange& change) { return ToText(Ask(change)->after.sums.total); }

  PriceSheet sheet_;
  UsageEntry entry_;
  Bill bill_;
};

TEST_F(WhatIfOfOneJob, AtAnotherTier) {
  EXPECT_EQ(After({}), "0.50");
  EXPECT_EQ(After({2, {}}), "2.00");
  EXPECT_EQ(After({0, {}}), "8.00");  // the job reserves its request
  EXPECT_EQ(ToText(Ask({0, {}})->difference), "7.50");
  ChargeChange half{0, {}};
  half.scale.request_ppm = kWholePpm / 2;
  EXPECT_EQ(After(half), "4.00");
}

TEST_F(WhatIfOfOneJob, ForFewerHours) {
  ChargeChange half;
  half.scale.run_time_ppm = kWholePpm / 2;
  EXPECT_EQ(After(half), "0.25");
  half.tier = 2;
  EXPECT_EQ(After(half), "1.00");
}

TEST_F(WhatIfOfOneJob, NamesWhatIsWrong) {
  ChargeChange change;
  change.scale.run_time_ppm = kWholePpm + 1;
  EXPECT_THAT(std::string(Message(Ask(change).status())),
              HasSubstr("the factor of the run time is 1000001 ppm; allowed are 0 to 1000000"));
  EXPECT_THAT(std::string(Message(Ask({9, {}}).status())), HasSubstr("tier 9"));
  std::vector<UsageEntry> two(2, entry_);
  two[1].job = 5;
  EXPECT_THAT(std::string(Message(WhatIf(sheet_, {}, {}, bill_, two, {}).status())),
              HasSubstr("expected those of one job"));
  EXPECT_FALSE(WhatIf(sheet_, {}, {}, bill_, {}, {}).ok());
  const std::vector<CapacityWindow> windows = {{0, 3600, {}, {}, {}}};
  EXPECT_THAT(std::string(Message(WhatIf(sheet_, windows, {}, bill_, std::span(&entry_, 1), {}).status())),
              HasSubstr("the bill has 0 slack windows"));
}

}  // namespace
}  // namespace taut::brain
