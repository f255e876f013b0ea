// Tests invariants of every bill with seeded random pools, sheets and entries.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "brain/economy/bill_cases_fixture.h"
#include "common/testing/test_scale.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr ChargeRule kAll[] = {ChargeRule::kReservation, ChargeRule::kUsage, ChargeRule::kUsageSlackTax,
                               ChargeRule::kMaxRequestUsage, ChargeRule::kPeak};
constexpr ChargeRule kWithoutTax[] = {ChargeRule::kReservation, ChargeRule::kUsage,
                                      ChargeRule::kMaxRequestUsage, ChargeRule::kPeak};
constexpr ChargeRule kTax[] = {ChargeRule::kUsageSlackTax};

void ExpectSound(const BillSums& sums) {
  for (const Money part : {sums.charges, sums.credits, sums.idle, sums.overhead, sums.total})
    EXPECT_GE(part.micros, 0);
  EXPECT_EQ(sums.total.micros,
            sums.charges.micros - sums.credits.micros + sums.idle.micros + sums.overhead.micros);
}

void AddSums(BillSums* to, const BillSums& from) {
  to->charges.micros += from.charges.micros;
  to->credits.micros += from.credits.micros;
  to->idle.micros += from.idle.micros;
  to->overhead.micros += from.overhead.micros;
  to->total.micros += from.total.micros;
}

std::string SumsText(const BillSums& sums) {
  std::string out;
  AppendText(&out, sums);
  return out;
}

// Checks that the lines of a job add up to its sums, and that no credit exceeds its amount.
void ExpectLines(std::span<const BillLine> lines, const BillSums& sums) {
  int64_t amount = 0, credit = 0;
  for (const BillLine& line : lines) {
    EXPECT_GE(line.amount.micros, 0);
    EXPECT_GE(line.credit.micros, 0);
    EXPECT_LE(line.credit.micros, line.amount.micros);
    EXPECT_TRUE(line.key.slo_missed || line.credit.micros == 0);
    amount += line.amount.micros;
    credit += line.credit.micros;
  }
  EXPECT_EQ(amount, sums.charges.micros);
  EXPECT_EQ(credit, sums.credits.micros);
}

TEST(BillProperties, BillsAndThePlatformsPartAddUpToTheCost) {
  Rng rng(11);
  int margins = 0, shared = 0;
  for (int i = 0; i < Scaled(600); ++i) {
    BillCase c = RandomBillCase(rng, kAll);
    for (const CostSharing idle :
         {CostSharing::kPlatform, CostSharing::kUniform, CostSharing::kProportional}) {
      for (const CostSharing overhead :
           {CostSharing::kPlatform, CostSharing::kUniform, CostSharing::kProportional}) {
        c.options.idle = idle;
        c.options.overhead = overhead;
        const Bill bill = *c.Make();
        BillSums of_groups, of_jobs;
        for (const GroupBill& group : bill.groups) {
          ExpectSound(group.sums);
          ExpectLines(group.lines, group.sums);
          AddSums(&of_groups, group.sums);
          BillSums in_group;
          for (size_t k = 0; k < group.jobs; ++k) AddSums(&in_group, bill.jobs[group.first_job + k].sums);
          EXPECT_EQ(SumsText(in_group), SumsText(group.sums));
        }
        for (const JobBill& job : bill.jobs) {
          ExpectSound(job.sums);
          ExpectLines(job.lines, job.sums);
          AddSums(&of_jobs, job.sums);
        }
        EXPECT_EQ(SumsText(of_groups), SumsText(bill.sums));
        EXPECT_EQ(SumsText(of_jobs), SumsText(bill.sums));
        EXPECT_EQ(of_groups.total.micros + bill.platform.micros,
                  bill.machine_cost.micros + bill.overhead_cost.micros);
        const bool idle_shared = idle != CostSharing::kPlatform && !bill.groups.empty();
        EXPECT_EQ(bill.sums.idle, idle_shared ? bill.idle_cost : Money{});
        // If all costs are shared, the platform bears at most the credits.
        if (idle_shared && overhead != CostSharing::kPlatform) {
          EXPECT_LE(bill.platform.micros, bill.sums.credits.micros);
        }
        margins += bill.platform.micros < 0 ? 1 : 0;
        shared += bill.sums.idle.micros > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(margins, Scaled(100));
  EXPECT_GT(shared, Scaled(100));
}

TEST(BillProperties, TheOrderOfEntriesDoesNotMatter) {
  Rng rng(12);
  for (int i = 0; i < Scaled(2000); ++i) {
    BillCase c = RandomBillCase(rng, kAll);
    const std::string before = BillText(*c.Make());
    for (size_t k = c.entries.size(); k > 1; --k) std::swap(c.entries[k - 1], c.entries[rng.Below(k)]);
    EXPECT_EQ(BillText(*c.Make()), before);
  }
}

TEST(BillProperties, JobsOfAGroupInOneAreBilledTheSame) {
  Rng rng(13);
  for (int i = 0; i < Scaled(2000); ++i) {
    BillCase c = RandomBillCase(rng, kAll);
    const std::string before = GroupsText(*c.Make());
    for (UsageEntry& entry : c.entries) entry.job = 7;
    EXPECT_EQ(GroupsText(*c.Make()), before);
  }
}

TEST(BillProperties, OtherGroupsDoNotChangeAGroupsCharges) {
  Rng rng(14);
  for (int i = 0; i < Scaled(1000); ++i) {
    BillCase c = RandomBillCase(rng, kWithoutTax);
    const Bill all = *c.Make();
    std::erase_if(c.entries, [](const UsageEntry& entry) { return entry.group != 1; });
    const Bill one = *c.Make();
    for (const GroupBill& group : all.groups) {
      if (group.group != 1) continue;
      EXPECT_EQ(group.sums.charges, one.groups.at(0).sums.charges);
    }
  }
}

// Amounts near the bounds of 64 bits are billed completely or rejected.
TEST(BillProperties, LargeAmountsAreBilledExactlyOrRefused) {
  Rng rng(19);
  int billed = 0, refused = 0;
  for (int i = 0; i < Scaled(3000); ++i) {
    BillCase c = RandomBillCase(rng, kAll);
    const auto large = [&rng] { return rng.Next() >> rng.Below(64); };
    const auto money = [&] { return Money{static_cast<int64_t>(large() >> 1)}; };
    const uint64_t which = rng.Below(4);
    for (UsageEntry& entry : c.entries) {
      if (which == 0) entry.of[rng.Below(2)] = {large(), large(), large(), large()};
    }
    for (CapacityWindow& w : c.windows) {
      if (which == 1) w.capacity = {large(), large()};
      if (which == 2) w.machine_cost = money(), w.overhead = money();
    }
    if (which == 3) c.sheet.tiers[0].prices[0].per_hour[0] = money();
    const absl::StatusOr<Bill> bill = c.Make();
    if (!bill.ok()) {
      // A price above the highest allowed price is reported as InvalidArgument.
      EXPECT_TRUE(absl::IsOutOfRange(bill.status()) || (which == 3 && absl::IsInvalidArgument(bill.status())))
          << bill.status();
      ++refused;
      continue;
    }
    ++billed;
    int64_t sum = bill->platform.micros;
    for (const JobBill& job : bill->jobs) {
      ExpectSound(job.sums);
      sum += job.sums.total.micros;
    }
    EXPECT_EQ(sum, bill->machine_cost.micros + bill->overhead_cost.micros);
  }
  EXPECT_GT(billed, Scaled(300));
  EXPECT_GT(refused, Scaled(300));
}

BillSums SumsOf(const Bill& bill, uint32_t group) {
  for (const GroupBill& g : bill.groups) {
    if (g.group == group) return g.sums;
  }
  return {};
}
BillSums SumsOf(const Bill& bill, uint32_t group, uint32_t job) {
  for (const JobBill& j : bill.jobs) {
    if (j.group == group && j.job == job) return j.sums;
  }
  return {};
}

void Raise(Rng& rng, UsageEntry* entry) {
  UsageQuantities& q = entry->of[rng.Below(2)];
  uint64_t* const values[] = {&q.usage, &q.request, &q.reservation, &q.peak};
  *values[rng.Below(4)] += 1 + rng.Below(rng.Below(2) == 0 ? 3 : 1'000'000);
}

TEST(BillProperties, MoreNeverCostsAGroupLess) {
  Rng rng(15);
  int without_credits = 0;
  for (int i = 0; i < Scaled(3000); ++i) {
    BillCase c = RandomBillCase(rng, kWithoutTax);
    if (c.entries.empty()) continue;
    const Bill before = *c.Make();
    UsageEntry& entry = c.entries[rng.Below(c.entries.size())];
    Raise(rng, &entry);
    const Bill after = *c.Make();
    const BillSums was = SumsOf(before, entry.group), is = SumsOf(after, entry.group);
    // At a price change, rounding may move one unit of quantity to the other price.
    const bool cut = BillingTimeline(c.sheet, c.windows).segments().size() > 3;
    const int64_t units = cut ? 8 * c.MostOfAUnit() : 0;
    EXPECT_GE(is.charges.micros, was.charges.micros - units);
    EXPECT_GE(is.charges.micros - is.credits.micros, was.charges.micros - was.credits.micros - units);
    // A credited charge lowers the shared idle cost and therefore the total.
    if (after.sums.credits > Money{}) continue;
    ++without_credits;
    const int64_t lines = static_cast<int64_t>(after.jobs.size() * 20);
    EXPECT_GE(is.total.micros, was.total.micros - units - lines);
    EXPECT_GE(SumsOf(after, entry.group, entry.job).total.micros,
              SumsOf(before, entry.group, entry.job).total.micros - units - lines);
  }
  EXPECT_GT(without_credits, Scaled(500));
}

TEST(BillProperties, MoreNeverCostsAGroupLessUnderTheSlackTax) {
  Rng rng(16);
  int taxed = 0;
  for (int i = 0; i < Scaled(3000); ++i) {
    BillCase c = RandomBillCase(rng, kTax);
    c.sheet.tiers.resize(1);
    c.sheet.tiers[0].service_credit_ppm = 0;
    c.options.idle = c.options.overhead = CostSharing::kPlatform;
    for (UsageEntry& entry : c.entries) entry.tier = 0;
    if (c.entries.empty()) continue;
    const Bill before = *c.Make();
    UsageEntry& entry = c.entries[rng.Below(c.entries.size())];
    Raise(rng, &entry);
    const Bill after = *c.Make();
    const auto segments = static_cast<int64_t>(before.slack.size());
    const int64_t units = 4 * segments * c.MostOfAUnit() + 20;
    EXPECT_GE(SumsOf(after, entry.group).charges.micros, SumsOf(before, entry.group).charges.micros - units);
    taxed += after.sums.charges > before.sums.charges ? 1 : 0;
  }
  EXPECT_GT(taxed, Scaled(300));
}

// Returns an upper bound on the change of a job's taxed slack, in units, if a request changes by one unit.
double Leverage(const Bill& bill) {
  double most = 0;
  for (const SlackWindow& w : bill.slack) {
    for (const SlackOfResource& of : w.of)
      most = std::max(
          most, static_cast<double>(of.Slack()) / static_cast<double>(std::max<uint64_t>(1, of.request)));
  }
  return 1 + most;
}
bool HasTax(const BillCase& c) {
  return std::any_of(c.entries.begin(), c.entries.end(), [&c](const UsageEntry& entry) {
    return c.sheet.tiers[entry.tier].rule == ChargeRule::kUsageSlackTax;
  });
}

TEST(BillProperties, AWindowCutInTwoCostsTheSameButForTheRounding) {
  Rng rng(17);
  int tight = 0;
  for (int i = 0; i < Scaled(3000); ++i) {
    BillCase c = RandomBillCase(rng, kAll);
    const Bill before = *c.Make();
    std::vector<UsageEntry> cut;
    for (const UsageEntry& entry : c.entries) {
      if (entry.end_s - entry.start_s < 2) {
        cut.push_back(entry);
        continue;
      }
      UsageEntry first = entry, second = entry;
      first.end_s = second.start_s =
          entry.start_s + 1 +
          static_cast<int64_t>(rng.Below(static_cast<uint64_t>(entry.end_s - entry.start_s - 1)));
      const uint64_t seconds[] = {static_cast<uint64_t>(first.end_s - first.start_s),
                                  static_cast<uint64_t>(second.end_s - second.start_s)};
      for (size_t r = 0; r < 2; ++r) {
        for (uint64_t UsageQuantities::*q :
             {&UsageQuantities::usage, &UsageQuantities::request, &UsageQuantities::reservation}) {
          const auto parts = SplitUnits(entry.of[r].*q, seconds);
          first.of[r].*q = parts[0];
          second.of[r].*q = parts[1];
        }
      }
      cut.push_back(first);
      cut.push_back(second);
    }
    const size_t cuts = cut.size() - c.entries.size();
    c.entries = std::move(cut);
    const Bill after = *c.Make();
    const size_t segments = BillingTimeline(c.sheet, c.windows).segments().size() - 2;
    const double leverage = HasTax(c) ? std::max(Leverage(before), Leverage(after)) : 1;
    tight += leverage < 100 ? 1 : 0;
    const auto most =
        static_cast<double>(4 * cuts * segments) * leverage * static_cast<double>(c.MostOfAUnit()) + 200;
    EXPECT_NEAR(static_cast<double>(after.sums.charges.micros),
                static_cast<double>(before.sums.charges.micros), most);
    if (segments == 1) {
      EXPECT_EQ(after.sums.charges, before.sums.charges);
    }
  }
  EXPECT_GT(tight, Scaled(1000));
}

// Computes the charges in floating point, segment by segment, directly from the rules.
double Expected(const BillCase& c, uint32_t group, uint32_t job) {
  const BillingTimeline timeline(c.sheet, c.windows);
  double sum = 0;
  for (const BillingTimeline::Segment& s : timeline.segments()) {
    for (size_t r = 0; r < 2; ++r) {
      double used = 0, request = 0, taxed_usage = 0, own_request_rate = 0;
      for (const UsageEntry& e : c.entries) {
        const double overlap =
            static_cast<double>(std::min(e.end_s, s.end_s) - std::max(e.start_s, s.start_s));
        if (overlap <= 0) continue;
        const double share = overlap / static_cast<double>(e.end_s - e.start_s);
        const UsageQuantities& q = e.of[r];
        const PriceTier& tier = c.sheet.tiers[e.tier];
        double charged = 0;
        if (tier.rule == ChargeRule::kReservation) charged = share * static_cast<double>(q.reservation);
        if (tier.rule == ChargeRule::kUsage || tier.rule == ChargeRule::kUsageSlackTax)
          charged = share * static_cast<double>(q.usage);
        if (tier.rule == ChargeRule::kMaxRequestUsage)
          charged = share * static_cast<double>(std::max(q.usage, q.request));
        if (tier.rule == ChargeRule::kPeak) charged = overlap * static_cast<double>(q.peak);
        used += charged;
        const Price& price = tier.prices[static_cast<size_t>(s.prices[e.tier])];
        const double rate =
            static_cast<double>(price.per_hour[r].micros) / (r == 0 ? 1000 * 3600 : 1024 * 3600);
        const bool own = e.group == group && e.job == job;
        if (own) sum += charged * rate;
        if (tier.rule != ChargeRule::kUsageSlackTax) continue;
        taxed_usage += charged;
        request += share * static_cast<double>(q.request);
        if (own) own_request_rate += share * static_cast<double>(q.request) * rate;
      }
      if (s.window < 0 || request <= 0) continue;
      const CapacityWindow& w = c.windows[static_cast<size_t>(s.window)];
      double slack = static_cast<double>(w.capacity[r]) * static_cast<double>(s.end_s - s.start_s) /
                         static_cast<double>(w.end_s - w.start_s) -
                     used;
      if (c.options.cap_slack) slack = std::min(slack, request - taxed_usage);
      sum += std::max(0.0, slack) * own_request_rate / request;
    }
  }
  return sum;
}

TEST(BillProperties, ChargesAreThoseOfTheRules) {
  Rng rng(18);
  int tight = 0;
  for (int i = 0; i < Scaled(2000); ++i) {
    BillCase c = RandomBillCase(rng, kAll);
    // Large quantities make rounding negligible.
    for (UsageEntry& entry : c.entries) {
      for (UsageQuantities& q : entry.of)
        q = {q.usage * 1000, q.request * 1000, q.reservation * 1000, q.peak * 1000};
    }
    for (CapacityWindow& w : c.windows) w.capacity = {w.capacity[0] * 1000, w.capacity[1] * 1000};
    const Bill bill = *c.Make();
    const double leverage = HasTax(c) ? Leverage(bill) : 1;
    tight += leverage < 100 ? 1 : 0;
    const auto units = static_cast<double>(c.entries.size() * bill.slack.size() * 4);
    for (const JobBill& job : bill.jobs) {
      const double expected = Expected(c, job.group, job.job);
      EXPECT_NEAR(static_cast<double>(job.sums.charges.micros), expected,
                  1e-9 * expected + units * leverage * static_cast<double>(c.MostOfAUnit()) + 100);
    }
  }
  EXPECT_GT(tight, Scaled(500));
}

}  // namespace
}  // namespace taut::brain
