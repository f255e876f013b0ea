#include "economy/bill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"
#include "rapidcheck/gtest.h"

namespace taut {
namespace {

using testing::HasSubstr;

constexpr int64_t kHour = 3600;
constexpr Money kOne = {kMicrosPerUnit};

PriceSheet Sheet(ChargeRule rule) {
  Tier tier{"production", rule, kPartsPerMillion, kPartsPerMillion, {{0, {kOne, kOne}}}};
  return *PriceSheet::Make("EUR", {std::move(tier)});
}

// Cores for an hour.
UseEntry Cores(uint32_t job, double usage, double reservation, double request = 0, int64_t start_s = 0,
               int64_t end_s = kHour) {
  const auto quantity = [&](double cores) {
    return static_cast<Quantity>(cores * 1000) * static_cast<Quantity>(end_s - start_s);
  };
  UseEntry out;
  out.job = job;
  out.start_s = start_s;
  out.end_s = end_s;
  out.of(Resource::kCpu) = {quantity(usage), quantity(request), quantity(reservation),
                            static_cast<uint64_t>(usage * 1000)};
  return out;
}

BillOptions Hours(int64_t hours) {
  BillOptions out;
  out.end_s = hours * kHour;
  return out;
}

std::string Charged(const PoolBill& bill) {
  std::string out;
  for (const JobBill& job : bill.jobs) StrAppend(&out, out.empty() ? "" : " ", ToText(job.charged));
  return out;
}

std::string BillOf(ChargeRule rule, const std::vector<UseEntry>& entries, BillOptions options = Hours(2)) {
  const PriceSheet sheet = Sheet(rule);
  Biller biller(&sheet, options);
  for (const UseEntry& entry : entries) {
    const absl::Status s = biller.Add(entry);
    if (!s.ok()) return std::string(Message(s));
  }
  return Charged(*biller.Close(0));
}

TEST(Biller, ChargesByTheRule) {
  const std::vector<UseEntry> entries = {Cores(0, 1, 4, 2), Cores(0, 3, 4, 2, kHour, 2 * kHour)};
  EXPECT_EQ(BillOf(ChargeRule::kReservation, entries), "8.00");
  EXPECT_EQ(BillOf(ChargeRule::kUsage, entries), "4.00");
  EXPECT_EQ(BillOf(ChargeRule::kMaxRequestUsage, entries), "5.00");
  EXPECT_EQ(BillOf(ChargeRule::kPeak, entries), "6.00");
  EXPECT_EQ(BillOf(ChargeRule::kUsageSlackTax, entries), "4.00") << "without a capacity there is no slack";
}

TEST(Biller, ChargesMemoryByTheGibibyte) {
  UseEntry entry;
  entry.end_s = kHour;
  entry.of(Resource::kMemory).reservation = Quantity{1536} * 1024 * kHour;  // 1.5 GiB for an hour
  EXPECT_EQ(BillOf(ChargeRule::kReservation, {entry}), "1.50");
}

// Usage 10, 20 and 25 on a machine of 64, limits as 1 : 2 : 2.
TEST(Biller, SharesSlackByLimits) {
  const std::vector<UseEntry> entries = {Cores(0, 10, 11), Cores(1, 20, 22), Cores(2, 25, 22)};
  BillOptions options = Hours(1);
  options.capacity[0] = Quantity{64'000} * kHour;
  EXPECT_EQ(BillOf(ChargeRule::kUsageSlackTax, entries, options), "11.80 23.60 28.60");
  options.capacity[0] = Quantity{50'000} * kHour;
  EXPECT_EQ(BillOf(ChargeRule::kUsageSlackTax, entries, options), "10.00 20.00 25.00")
      << "more used than there is";
  options.capacity[0] = Quantity{64'000} * kHour;
  options.cap_slack = true;
  EXPECT_EQ(BillOf(ChargeRule::kUsageSlackTax, {Cores(0, 10, 12)}, options), "12.00")
      << "what no job asked for is the platform's";
}

TEST(Biller, APriceHoldsFromItsDateOn) {
  Tier tier{"production", ChargeRule::kUsage, kPartsPerMillion, kPartsPerMillion, {}};
  tier.prices = {{0, {kOne, kOne}}, {kHour, {{2 * kMicrosPerUnit}, kOne}}};
  const PriceSheet sheet = *PriceSheet::Make("EUR", {tier});
  Biller biller(&sheet, Hours(10));
  ASSERT_TRUE(biller.Add(Cores(0, 1, 1, 1, kHour / 2, 3 * kHour / 2)).ok());
  const PoolBill bill = *biller.Close(2);
  ASSERT_EQ(bill.jobs.size(), 2U);
  ASSERT_EQ(bill.jobs[0].lines.size(), 2U);
  EXPECT_EQ(ToText(bill.jobs[0].lines[0].amount), "0.50");
  EXPECT_EQ(ToText(bill.jobs[0].lines[1].amount), "1.00");
  EXPECT_EQ(ToText(bill.jobs[1].total), "0.00");
}

TEST(Biller, OnlyThePeriodIsCharged) {
  BillOptions options;
  options.start_s = kHour;
  options.end_s = 2 * kHour;
  EXPECT_EQ(BillOf(ChargeRule::kUsage, {Cores(0, 1, 1, 1, 0, 4 * kHour)}, options), "1.00");
  EXPECT_EQ(BillOf(ChargeRule::kUsage, {Cores(0, 1, 1, 1, 0, kHour)}, options), "");
}

TEST(Biller, SharesWhatIsIdle) {
  const PriceSheet sheet = Sheet(ChargeRule::kUsage);
  const auto bill = [&](IdleSharing idle) {
    BillOptions options = Hours(1);
    options.idle = idle;
    options.cost = Money{10 * kMicrosPerUnit};
    Biller biller(&sheet, options);
    EXPECT_TRUE(biller.Add(Cores(0, 1, 1)).ok());
    EXPECT_TRUE(biller.Add(Cores(2, 3, 4)).ok());  // job 1 was not there
    const PoolBill out = *biller.Close(3);
    return StrCat(ToText(out.jobs[0].total), " ", ToText(out.jobs[1].total), " ", ToText(out.jobs[2].total),
                  " ", ToText(*out.platform));
  };
  EXPECT_EQ(bill(IdleSharing::kPlatform), "1.00 0.00 3.00 6.00");
  EXPECT_EQ(bill(IdleSharing::kProportion), "2.50 0.00 7.50 0.00");
  EXPECT_EQ(bill(IdleSharing::kUniform), "4.00 0.00 6.00 0.00");
}

TEST(Biller, NamesWhatIsWrong) {
  const PriceSheet sheet = Sheet(ChargeRule::kUsage);
  Biller biller(&sheet, Hours(2));
  const auto error = [&](const UseEntry& entry) { return std::string(Message(biller.Add(entry))); };
  EXPECT_THAT(error(Cores(7, 1, 1, 1, 5, 5)),
              HasSubstr("job 7, from 5 s to 5 s: it does not end after its start"));
  UseEntry entry = Cores(0, 1, 1);
  entry.tier = 3;
  EXPECT_THAT(error(entry), HasSubstr("its tier is not in the price sheet"));
  EXPECT_TRUE(biller.Close(0)->jobs.empty()) << "nothing of them was taken";
}

TEST(PriceSheet, NamesWhatIsWrong) {
  const auto error = [](std::vector<Tier> tiers) {
    return std::string(Message(PriceSheet::Make("EUR", std::move(tiers)).status()));
  };
  const Tier good{"batch", ChargeRule::kUsage, 1, 1, {{0, {}}}};
  Tier bad = good;
  EXPECT_THAT(error({}), HasSubstr("there are no tiers"));
  EXPECT_THAT(error({good, good}), HasSubstr("tier batch: it is there twice"));
  bad.prices = {{5, {}}, {5, {}}};
  EXPECT_THAT(error({bad}), HasSubstr("prices do not ascend"));
  bad.prices = {{5, {{-1}, {}}}};
  EXPECT_THAT(error({bad}), HasSubstr("a price is negative"));
  bad.prices = {};
  EXPECT_THAT(error({bad}), HasSubstr("it has no prices"));
  bad = good;
  bad.availability_ppm = 1'000'001;
  EXPECT_THAT(error({bad}), HasSubstr("outside 0 to 1"));
  EXPECT_THAT(std::string(Message(PriceSheet::Make("EUR", {good})->FindTier("prod").status())),
              HasSubstr("expected one of batch"));
}

// ---- properties ----

struct Case {
  PriceSheet sheet;
  BillOptions options;
  std::vector<UseEntry> entries;
};

Case Generate() {
  const auto money = [] { return Money{*rc::gen::inRange<int64_t>(0, 100 * kMicrosPerUnit)}; };
  std::vector<Tier> tiers;
  for (const ChargeRule rule : {ChargeRule::kReservation, ChargeRule::kUsage, ChargeRule::kUsageSlackTax,
                                ChargeRule::kMaxRequestUsage, ChargeRule::kPeak}) {
    Tier tier{std::string(Name(rule)), rule, 0, 0, {}};
    tier.prices = {{INT64_MIN, {money(), money()}}, {*rc::gen::inRange<int64_t>(1, 900), {money(), money()}}};
    tiers.push_back(std::move(tier));
  }
  Case out{*PriceSheet::Make("EUR", std::move(tiers)), {}, {}};
  out.options.end_s = 1000;
  out.options.idle =
      *rc::gen::element(IdleSharing::kPlatform, IdleSharing::kProportion, IdleSharing::kUniform);
  out.options.cost = Money{*rc::gen::inRange<int64_t>(0, 1'000'000 * kMicrosPerUnit)};
  out.options.capacity = {*rc::gen::inRange<Quantity>(0, 1'000'000'000), std::nullopt};
  out.options.cap_slack = *rc::gen::arbitrary<bool>();
  for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
    UseEntry entry;
    entry.job = *rc::gen::inRange<uint32_t>(0, 4);
    entry.tier = *rc::gen::inRange<uint32_t>(0, 5);
    entry.start_s = *rc::gen::inRange<int64_t>(-100, 1000);
    entry.end_s = entry.start_s + *rc::gen::inRange<int64_t>(1, 600);
    for (ResourceUse& use : entry.resources) {
      const auto quantity = [] { return *rc::gen::inRange<Quantity>(0, 100'000'000); };
      use = {quantity(), quantity(), quantity(), *rc::gen::inRange<uint64_t>(0, 200'000)};
    }
    out.entries.push_back(entry);
  }
  return out;
}

PoolBill Bill(const Case& c, const std::vector<UseEntry>& entries) {
  Biller biller(&c.sheet, c.options);
  for (const UseEntry& entry : entries) RC_ASSERT(biller.Add(entry).ok());
  return *biller.Close(4);
}

RC_GTEST_PROP(Biller, BillsAndThePlatformsPartAreTheCost, ()) {
  const Case c = Generate();
  const PoolBill bill = Bill(c, c.entries);
  WideInt sum = bill.platform->micros;
  for (const JobBill& job : bill.jobs) {
    RC_ASSERT(job.charged.micros >= 0 && job.idle.micros >= 0);
    WideInt lines = 0;
    for (const BillLine& line : job.lines) lines += line.amount.micros;
    RC_ASSERT(lines == job.charged.micros);
    RC_ASSERT(job.total.micros == job.charged.micros + job.idle.micros);
    sum += job.total.micros;
  }
  RC_ASSERT(sum == c.options.cost->micros);
}

RC_GTEST_PROP(Biller, TheOrderOfEntriesDoesNotMatter, ()) {
  const Case c = Generate();
  std::vector<UseEntry> other = c.entries;
  std::ranges::reverse(other);
  const PoolBill a = Bill(c, c.entries), b = Bill(c, other);
  RC_ASSERT(a.total == b.total);
  for (size_t i = 0; i < a.jobs.size(); ++i) RC_ASSERT(a.jobs[i].total == b.jobs[i].total);
}

RC_GTEST_PROP(Biller, MoreIsNeverCheaper, ()) {
  Case c = Generate();
  // The slack tax: at one price only, since use at a low price leaves less slack to be taxed at a high one.
  const auto slack_tier = static_cast<uint32_t>(ChargeRule::kUsageSlackTax);
  if (*rc::gen::arbitrary<bool>()) {
    const Rates one = c.sheet.tiers()[slack_tier].prices[0].rates;
    Tier tier{"all", ChargeRule::kUsageSlackTax, 0, 0, {{INT64_MIN, one}}};
    c.sheet = *PriceSheet::Make("EUR", {tier});
    for (UseEntry& entry : c.entries) entry.tier = 0;
  } else {
    std::erase_if(c.entries, [&](const UseEntry& entry) { return entry.tier == slack_tier; });
  }
  RC_PRE(!c.entries.empty());
  c.options.idle = IdleSharing::kPlatform;  // a share of idle cost falls while others are charged more
  std::vector<UseEntry> more = c.entries;
  const auto at = *rc::gen::inRange<size_t>(0, more.size());
  ResourceUse& use = more[at].resources[static_cast<size_t>(*rc::gen::inRange(0, 2))];
  const auto plus = *rc::gen::inRange<Quantity>(0, 1'000'000);
  use.usage += plus;
  use.request += plus;
  use.reservation += plus;
  use.peak += plus;
  const uint32_t job = more[at].job;
  RC_ASSERT(Bill(c, more).jobs[job].charged >= Bill(c, c.entries).jobs[job].charged);
}

}  // namespace
}  // namespace taut
