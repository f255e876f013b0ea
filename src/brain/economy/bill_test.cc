#include "brain/economy/bill.h"

#include <functional>
#include <string>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kCoreHour = kMillicoreSecondsPerCoreHour;
constexpr uint64_t kGibHour = kMebibyteSecondsPerGibibyteHour;
constexpr int64_t kHour = 3600;

Money Units(std::string_view text) { return *ParseMoney(text); }

PriceTier Tier(std::string_view name, ChargeRule rule, std::string_view per_core_hour,
               std::string_view per_gib_hour) {
  PriceTier tier;
  tier.name = name;
  tier.rule = rule;
  tier.prices = {{0, {Units(per_core_hour), Units(per_gib_hour)}}};
  return tier;
}

PriceSheet Sheet(std::vector<PriceTier> tiers) {
  PriceSheet sheet;
  sheet.tiers = std::move(tiers);
  return sheet;
}

UsageEntry Entry(int64_t start_s, int64_t end_s, uint32_t group, uint32_t job) {
  UsageEntry entry;
  entry.start_s = start_s;
  entry.end_s = end_s;
  entry.group = group;
  entry.job = job;
  return entry;
}

// Returns an entry of one hour of CPU, with amounts in core-hours.
UsageEntry Cpu(uint32_t job, uint64_t usage, uint64_t request) {
  UsageEntry entry = Entry(0, kHour, job, job);
  entry.of[0].usage = usage * kCoreHour;
  entry.of[0].request = request * kCoreHour;
  return entry;
}

std::vector<std::string> Totals(const Bill& bill) {
  std::vector<std::string> out;
  for (const GroupBill& group : bill.groups) out.push_back(ToText(group.sums.total));
  return out;
}

// The pool has a capacity of 64. Usage is 10, 20 and 25, and requests are in the ratio 1 : 2 : 2.
class SlackTax : public testing::Test {
 protected:
  PriceSheet sheet_ = Sheet({Tier("production", ChargeRule::kUsageSlackTax, "1", "0")});
  std::vector<CapacityWindow> windows_ = {{0, kHour, {64 * kCoreHour, 0}, Units("64"), {}}};
  std::vector<UsageEntry> entries_ = {Cpu(1, 10, 15), Cpu(2, 20, 30), Cpu(3, 25, 30)};
  BillOptions options_;

  Bill Make() { return *MakeBill(sheet_, windows_, entries_, options_); }
};

TEST_F(SlackTax, SharesTheSlackByRequest) {
  const Bill bill = Make();
  EXPECT_THAT(Totals(bill), ElementsAre("11.80", "23.60", "28.60"));
  EXPECT_EQ(ToText(bill.sums.total), "64.00");
  EXPECT_EQ(bill.platform, Money{});
  ASSERT_EQ(bill.jobs[0].lines.size(), 2U);
  const BillLine& tax = bill.jobs[0].lines[1];
  EXPECT_EQ(tax.key.kind, LineKind::kSlackTax);
  EXPECT_EQ(ToText(tax.amount), "1.80");
  EXPECT_EQ(tax.quantity, 9 * kCoreHour / 5);
  EXPECT_EQ(ToText(tax.rate), "1.00");
}

TEST_F(SlackTax, TheCapLeavesWhatNoOneAskedForToThePlatform) {
  entries_ = {Cpu(1, 10, 12), Cpu(2, 20, 24), Cpu(3, 25, 24)};  // 60 core-hours are requested and 55 used
  options_.cap_slack = true;
  EXPECT_THAT(Totals(Make()), ElementsAre("11.00", "22.00", "27.00"));
  EXPECT_EQ(ToText(Make().platform), "4.00");
  entries_ = {Cpu(1, 10, 1), Cpu(2, 20, 2), Cpu(3, 25, 2)};
  EXPECT_THAT(Totals(Make()), ElementsAre("10.00", "20.00", "25.00"));
  options_.idle = CostSharing::kProportional;
  EXPECT_EQ(Make().platform, Money{});
}

TEST_F(SlackTax, IsNotNegative) {
  windows_[0].capacity[0] = 50 * kCoreHour;
  EXPECT_THAT(Totals(Make()), ElementsAre("10.00", "20.00", "25.00"));
}

TEST_F(SlackTax, WithoutARequestStaysWithThePlatform) {
  entries_ = {Cpu(1, 10, 0), Cpu(2, 20, 0)};
  EXPECT_THAT(Totals(Make()), ElementsAre("10.00", "20.00"));
  EXPECT_EQ(ToText(Make().platform), "34.00");
}

TEST_F(SlackTax, IsOfWhatOtherRulesLeave) {
  sheet_.tiers.push_back(Tier("reserved", ChargeRule::kReservation, "1", "0"));
  UsageEntry reserved = Entry(0, kHour, 9, 9);
  reserved.tier = 1;
  reserved.of[0] = {1 * kCoreHour, 4 * kCoreHour, 4 * kCoreHour, 0};
  entries_.push_back(reserved);
  EXPECT_THAT(Totals(Make()), ElementsAre("11.00", "22.00", "27.00", "4.00"));
}

TEST_F(SlackTax, NeedsACapacity) {
  entries_[0].start_s = kHour - 10;
  entries_[0].end_s = kHour + 10;
  EXPECT_THAT(std::string(Message(MakeBill(sheet_, windows_, entries_).status())),
              HasSubstr("tier \"production\" has a slack tax, and at day 0 01:00 no capacity is given"));
}

TEST(Bill, ChargesEachRuleItsQuantity) {
  const PriceSheet sheet = Sheet({Tier("a", ChargeRule::kReservation, "0.03", "0.004"),
                                  Tier("b", ChargeRule::kUsage, "0.03", "0.004"),
                                  Tier("c", ChargeRule::kMaxRequestUsage, "0.03", "0.004"),
                                  Tier("d", ChargeRule::kPeak, "0.03", "0.004")});
  std::vector<UsageEntry> entries;
  for (uint16_t tier = 0; tier < 4; ++tier) {
    UsageEntry entry = Entry(0, kHour, tier, 1);
    entry.tier = tier;
    entry.of[0] = {2 * kCoreHour, 3 * kCoreHour, 5 * kCoreHour, 7000};
    entry.of[1] = {13 * kGibHour, 12 * kGibHour, 14 * kGibHour, 15 * 1024};
    entries.push_back(entry);
  }
  const Bill bill = *MakeBill(sheet, {}, entries);
  EXPECT_THAT(Totals(bill), ElementsAre("0.206", "0.112", "0.142", "0.27"));
  EXPECT_EQ(bill.groups[2].lines[0].rule, ChargeRule::kMaxRequestUsage);
  EXPECT_EQ(bill.groups[2].lines[0].quantity, 3 * kCoreHour);
}

TEST(Bill, APriceChangeSplitsAWindowByTime) {
  PriceSheet sheet = Sheet({Tier("a", ChargeRule::kUsage, "0.04", "0")});
  sheet.tiers[0].prices.push_back({900, {Units("0.08"), Money{}}});
  UsageEntry entry = Entry(0, kHour, 1, 1);
  entry.of[0].usage = 4 * kCoreHour;
  const Bill bill = *MakeBill(sheet, {}, std::span(&entry, 1));
  ASSERT_EQ(bill.jobs[0].lines.size(), 2U);
  EXPECT_EQ(bill.jobs[0].lines[0].quantity, kCoreHour);
  EXPECT_EQ(ToText(bill.jobs[0].lines[0].amount), "0.04");
  EXPECT_EQ(bill.jobs[0].lines[1].quantity, 3 * kCoreHour);
  EXPECT_EQ(bill.jobs[0].lines[1].rate_from_s, 900);
  EXPECT_EQ(ToText(bill.sums.total), "0.28");
}

TEST(Bill, AMissedSloIsCredited) {
  PriceSheet sheet = Sheet({Tier("a", ChargeRule::kUsage, "0.04", "0")});
  sheet.tiers[0].service_credit_ppm = 250'000;
  std::vector<UsageEntry> entries(2, Entry(0, kHour, 1, 1));
  for (UsageEntry& entry : entries) entry.of[0].usage = kCoreHour;
  entries[1].slo_missed = true;
  const std::vector<CapacityWindow> windows = {{0, kHour, {}, Units("0.08"), {}}};
  BillOptions options;
  options.idle = CostSharing::kProportional;
  const Bill bill = *MakeBill(sheet, windows, entries, options);
  EXPECT_EQ(ToText(bill.sums.charges), "0.08");
  EXPECT_EQ(ToText(bill.sums.credits), "0.01");
  EXPECT_EQ(ToText(bill.sums.total), "0.07");
  EXPECT_EQ(bill.sums.idle, Money{});  // a credit is not charged again as idle cost
  EXPECT_EQ(ToText(bill.platform), "0.01");
}

TEST(Bill, SharesIdleCostAndOverhead) {
  const PriceSheet sheet = Sheet({Tier("a", ChargeRule::kUsage, "1", "0")});
  const std::vector<UsageEntry> entries = {Cpu(1, 1, 0), Cpu(2, 3, 0)};
  std::vector<CapacityWindow> windows = {{0, kHour, {10 * kCoreHour, 20 * kGibHour}, {}, Units("2")}};
  BillOptions options;
  // machines cost 8 in total, of which charges recover 4
  options.cost_price = {0, {Units("0.4"), Units("0.2")}};
  Bill bill = *MakeBill(sheet, windows, entries, options);
  EXPECT_EQ(ToText(bill.idle_cost), "4.00");
  EXPECT_THAT(Totals(bill), ElementsAre("1.00", "3.00"));
  EXPECT_EQ(ToText(bill.platform), "6.00");
  options.idle = CostSharing::kProportional;
  bill = *MakeBill(sheet, windows, entries, options);
  EXPECT_THAT(Totals(bill), ElementsAre("2.00", "6.00"));
  options.overhead = CostSharing::kUniform;
  bill = *MakeBill(sheet, windows, entries, options);
  EXPECT_THAT(Totals(bill), ElementsAre("3.00", "7.00"));
  EXPECT_EQ(bill.platform, Money{});
  // Charges beyond the cost of machines recover overhead. Charges beyond machines and overhead are a margin.
  windows[0].machine_cost = Units("3");
  bill = *MakeBill(sheet, windows, entries, options);
  EXPECT_EQ(ToText(bill.unrecovered_overhead), "1.00");
  EXPECT_THAT(Totals(bill), ElementsAre("1.50", "3.50"));
  windows[0].machine_cost = Units("1");
  bill = *MakeBill(sheet, windows, entries, options);
  EXPECT_EQ(ToText(bill.platform), "-1.00");
}

TEST(Bill, JobsOfAGroupShareItsAmountsExactly) {
  const PriceSheet sheet = Sheet({Tier("a", ChargeRule::kUsage, "1", "0")});
  std::vector<UsageEntry> entries(3, Entry(0, kHour, 1, 0));
  for (uint32_t i = 0; i < 3; ++i) {
    entries[i].job = i;
    entries[i].of[0].usage = 1;  // a usage that costs 0.28 micro-units
  }
  const Bill bill = *MakeBill(sheet, {}, entries);
  EXPECT_EQ(bill.groups[0].sums.total.micros, 1);
  EXPECT_EQ(bill.jobs[0].sums.total.micros, 1);
  EXPECT_EQ(bill.jobs[1].sums.total.micros, 0);
}

// A split of the credit by quantity would credit the first job 1 of 3 micro-units, although its amount is 0.
TEST(Bill, NoJobIsCreditedMoreThanItIsCharged) {
  PriceSheet sheet = Sheet({Tier("a", ChargeRule::kUsage, "0.36", "0")});
  sheet.tiers[0].service_credit_ppm = 750'000;
  std::vector<UsageEntry> entries(3, Entry(0, kHour, 1, 0));
  for (uint32_t i = 0; i < 3; ++i) {
    entries[i].job = i;
    entries[i].slo_missed = true;
    entries[i].of[0].usage = i == 0 ? 6 : 17;
  }
  const Bill bill = *MakeBill(sheet, {}, entries);
  EXPECT_EQ(bill.sums.credits.micros, 3);
  for (const JobBill& job : bill.jobs) EXPECT_GE(job.sums.total.micros, 0);
  EXPECT_EQ(bill.jobs[0].sums.credits.micros, 0);
}

TEST(Bill, LinesAreExplained) {
  const PriceSheet sheet = Sheet({Tier("batch", ChargeRule::kUsage, "0.03", "0.004")});
  UsageEntry entry = Entry(0, kHour, 1, 1);
  entry.of[0].usage = 12 * kCoreHour + kCoreHour / 2;
  entry.of[1].usage = 1;
  entry.slo_missed = true;
  const Bill bill = *MakeBill(sheet, {}, std::span(&entry, 1));
  EXPECT_EQ(Explain(sheet, bill.jobs[0].lines[0]),
            "batch, cpu by usage, SLO missed: 12.500000 core-hours at 0.03 are 0.375, credited 0.00");
  EXPECT_EQ(Explain(sheet, bill.jobs[0].lines[1]),
            "batch, memory by usage, SLO missed: 0.000000 GiB-hours at 0.004 are 0.00, credited 0.00");
}

TEST(Bill, TakesAPebibyteForAMonthOfEachOfManyJobs) {
  const PriceSheet sheet = Sheet({Tier("a", ChargeRule::kPeak, "0.03", "0.004")});
  std::vector<UsageEntry> entries(1000, Entry(0, 31 * 24 * kHour, 1, 0));
  for (uint32_t i = 0; i < 1000; ++i) {
    entries[i].job = i;
    entries[i].of[1].peak = uint64_t{1} << 30;
  }
  const Bill bill = *MakeBill(sheet, {}, entries);
  EXPECT_EQ(ToText(bill.sums.total), "3120562176.00");  // 1000 * 2^20 GiB * 744 h * 0.004
}

TEST(Bill, NamesWhatIsWrong) {
  const auto wrong = [](const std::function<void(UsageEntry&, std::vector<CapacityWindow>&)>& change) {
    const PriceSheet sheet = Sheet({Tier("a", ChargeRule::kPeak, "1000", "0")});
    UsageEntry entry = Entry(0, kHour, 1, 1);
    std::vector<CapacityWindow> windows = {{0, kHour, {}, {}, {}}, {kHour, 2 * kHour, {}, {}, {}}};
    change(entry, windows);
    return std::string(Message(MakeBill(sheet, windows, std::span(&entry, 1)).status()));
  };
  EXPECT_EQ(wrong([](auto&, auto&) {}), "");
  EXPECT_THAT(wrong([](auto& e, auto&) { e.end_s = 0; }), HasSubstr("window [0, 0); expected start < end"));
  EXPECT_THAT(wrong([](auto& e, auto&) { e.tier = 1; }), HasSubstr("has tier 1; the price sheet has 1"));
  EXPECT_THAT(wrong([](auto& e, auto&) { e.start_s = -5; }),
              HasSubstr("tier \"a\" was used at day -1 23:59, before its first price"));
  EXPECT_THAT(wrong([](auto& e, auto&) { e.of[0].peak = UINT64_MAX; }),
              HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(wrong([](auto& e, auto&) { e.of[0].peak = UINT64_MAX / 7200; }),
              AllOf(HasSubstr("tier \"a\": a quantity of"), HasSubstr("out of range")));
  EXPECT_THAT(wrong([](auto&, auto& w) { w[1].start_s = kHour - 1; }), HasSubstr("without overlap"));
  EXPECT_THAT(wrong([](auto&, auto& w) { w[1].overhead = {-1}; }), HasSubstr("neither may be negative"));
  EXPECT_THAT(wrong([](auto&, auto& w) { w[1].machine_cost = w[0].machine_cost = Money{INT64_MAX}; }),
              HasSubstr("out of range"));
}

TEST(Bill, OfNothingLeavesAllToThePlatform) {
  const PriceSheet sheet = Sheet({Tier("a", ChargeRule::kUsage, "1", "0")});
  const std::vector<CapacityWindow> windows = {{0, kHour, {}, Units("5"), Units("1")}};
  BillOptions options;
  options.idle = options.overhead = CostSharing::kUniform;
  const Bill bill = *MakeBill(sheet, windows, {}, options);
  EXPECT_TRUE(bill.groups.empty());
  EXPECT_EQ(ToText(bill.platform), "6.00");
}

TEST(CostSharing, IsFoundByName) {
  EXPECT_EQ(*CostSharingNamed("uniform"), CostSharing::kUniform);
  EXPECT_EQ(Name(CostSharing::kProportional), "proportional");
  EXPECT_THAT(std::string(Message(CostSharingNamed("even").status())),
              HasSubstr("expected platform, uniform or proportional"));
}

}  // namespace
}  // namespace taut::brain
