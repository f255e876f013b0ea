#include "tools/sim/economy_replay.h"

#include <algorithm>
#include <map>

#include "common/base/byte_units.h"
#include "common/base/random.h"
#include "common/testing/test_scale.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/sim/made_days.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;

// Production is charged by reservation. Batch is charged by usage and promises 90 % availability. Free is charged
// by usage and promises nothing.
brain::PriceSheet ThreeTiers() {
  brain::PriceSheet out;
  for (const char* name : {"production", "batch", "free"}) {
    brain::PriceTier& tier = out.tiers.emplace_back();
    tier.name = name;
    tier.rule = out.tiers.size() == 1 ? brain::ChargeRule::kReservation : brain::ChargeRule::kUsage;
    tier.availability_ppm = tier.obtainability_ppm = brain::kWholePpm;
    tier.prices = {{-brain::kMaxBillSeconds, {brain::Money{30'000}, brain::Money{4'000}}}};
  }
  out.tiers[1].availability_ppm = 900'000;
  out.tiers[1].service_credit_ppm = 500'000;
  out.tiers[2].availability_ppm = 0;
  return out;
}

std::vector<SellerPolicy> EveryPolicy() {
  std::vector<SellerPolicy> out;
  for (const SellerPolicyInfo& info : SellerPolicies()) out.push_back(info.policy);
  return out;
}

// A pool with jobs of one task. The limits of a job are `cores` cores and as many GiB. A job uses the share
// `share` of its limits in the windows [first, end).
struct PoolTest : testing::Test {
  PoolTest() {
    options.policies = {SellerPolicy::kAll};
    options.tiers = brain::DefaultTierSales(sheet);
    options.capacity = PerResource<double>{10, 10 * kGiB};
    options.horizon_s = 3600;
    options.warmup_s = options.reclaim_s = options.patience_s = 0;
  }
  void Add(uint16_t tier, uint32_t group, int32_t first, int32_t end, double cores,
           const std::function<double(int32_t)>& share) {
    JobInfo info;
    info.name = "job-" + std::to_string(jobs.size());
    const JobId job = days.AddJob(info);
    jobs.push_back({group, tier});
    for (int32_t w = first; w < end; ++w) {
      TaskWindow task;
      task.cpu_mean_cores = static_cast<float>(cores * share(w));
      task.memory_mean_bytes = static_cast<float>(cores * share(w) * kGiB);
      days.Put(job, w, task);
      days.SetOwner(job, w, cores, cores * kGiB);
    }
  }
  EconomyResult Run(const EconomyHooks& hooks = {}) {
    days.Finish();
    absl::StatusOr<EconomyResult> out = ReplayEconomy(days, sheet, jobs, options, hooks);
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? *std::move(out) : EconomyResult();
  }
  std::string Error() {
    days.Finish();
    return std::string(ReplayEconomy(days, sheet, jobs, options).status().message());
  }
  // Adds random jobs of all tiers in three groups over three days.
  void AddRandom(Rng& rng, size_t count) {
    for (size_t j = 0; j < count; ++j) {
      const auto tier = static_cast<uint16_t>(rng.Below(3));
      const auto first = static_cast<int32_t>(rng.Below(2 * kWindowsPerDay));
      const auto end =
          first + 1 + static_cast<int32_t>(rng.Below(3 * kWindowsPerDay - static_cast<uint64_t>(first)));
      Add(tier, static_cast<uint32_t>(rng.Below(3)), first, end, 0.5 + static_cast<double>(rng.Below(8)),
          [&rng](int32_t) { return rng.Uniform(0.05, 1); });
    }
    options.warmup_s = kDaySeconds;
    options.policies = EveryPolicy();
  }

  MadeDays days;
  std::vector<BilledJob> jobs;
  brain::PriceSheet sheet = ThreeTiers();
  EconomyOptions options;
};

TEST_F(PoolTest, ByDefaultTiersAreSoldByTheirPromises) {
  EXPECT_EQ(options.tiers,
            (std::vector{brain::TierSale::kReserved, brain::TierSale::kSlack, brain::TierSale::kSpare}));
  sheet.tiers[1].availability_ppm = 999'000;
  EXPECT_EQ(brain::DefaultTierSales(sheet)[1], brain::TierSale::kReserved);
}

// The pool has 10 cores. Production requests 8 cores and uses 2, from noon on 7. Batch requests 6 and uses 3, so
// it fits until noon. Free requests 4 and uses 1, so it fits until noon, but not in the afternoon.
TEST_F(PoolTest, ADayByHand) {
  Add(0, 0, 0, kWindowsPerDay, 8, [](int32_t w) { return w < kWindowsPerDay / 2 ? 0.25 : 0.875; });
  Add(1, 1, 0, kWindowsPerDay, 6, [](int32_t) { return 0.5; });
  Add(2, 1, 0, kWindowsPerDay, 4, [](int32_t) { return 0.25; });
  std::vector<std::string> said;
  EconomyHooks hooks;
  hooks.on_decision = [&](const EconomyDecision& d) {
    said.push_back(std::to_string(d.sale.step) + " " + std::to_string(d.sale.job) + " " +
                   std::string(Name(d.sale.event)));
  };
  const EconomyResult result = Run(hooks);
  EXPECT_THAT(said, testing::ElementsAre("0 0 admitted", "0 1 admitted", "144 1 reclaimed", "0 2 admitted",
                                         "144 2 reclaimed"));
  const EconomyPolicy& all = result.policies.at(0);
  // 8 x 24 core-hours at 0.03, and 8 x 24 GiB-hours at 0.004.
  EXPECT_EQ(ToText(all.tiers[0].charges), "6.528");
  // 3 x 12 core-hours and GiB-hours at the same prices. Batch was available 50 % of the time instead of 90 %, so
  // half of its charges are credited. Free has no promise.
  EXPECT_EQ(ToText(all.tiers[1].charges), "1.224");
  EXPECT_EQ(ToText(all.tiers[1].credits), "0.612");
  EXPECT_EQ(ToText(all.tiers[2].charges), "0.408");
  EXPECT_EQ(ToText(all.tiers[2].credits), "0.00");
  EXPECT_EQ(all.tiers[1].missed, all.tiers[1].charges);
  EXPECT_EQ(ToText(all.tiers[1].penalty), "2.448") << "of the whole day";
  EXPECT_EQ(ToText(all.tiers[1].strict_net()), "-2.448");
  EXPECT_EQ(all.tiers[1].totals.available_share(), 0.5);
  EXPECT_EQ(ToText(all.bill.sums.total), "7.548");
  const int64_t core = 1000 * kWindowSeconds;
  EXPECT_EQ(all.lines[0].usage[0], 6 * core);
  EXPECT_EQ(all.lines[0].allocation[0], 18 * core);
  EXPECT_EQ(all.lines[200].usage[0], 7 * core);
  EXPECT_EQ(all.lines[200].allocation[0], 8 * core);
  EXPECT_EQ(all.lines[200].reservation[0], 18 * core);
  EXPECT_EQ(result.reserved[200][0], 8 * core);
}

// The promise is kept on 31 January, and missed in the first half of 1 February. Only jobs that ran in this half
// receive credits.
TEST_F(PoolTest, CreditsAreOfTheMonthThatWasNotKept) {
  const int32_t first = 30 * kWindowsPerDay, second = first + kWindowsPerDay, end = second + kWindowsPerDay;
  Add(0, 0, first, end, 8, [=](int32_t w) { return w >= second && w < second + 144 ? 0.875 : 0.25; });
  Add(1, 1, first, end, 6, [](int32_t) { return 0.5; });
  const EconomyResult result = Run();
  const EconomyTier& batch = result.policies.at(0).tiers[1];
  EXPECT_EQ(batch.totals.job_periods, 2U);
  EXPECT_EQ(batch.totals.job_periods_kept, 1U);
  EXPECT_EQ(ToText(batch.charges), "3.672") << "36 hours of 3 cores and 3 GiB";
  EXPECT_EQ(ToText(batch.credits), "0.612") << "half of 12 hours";
  EXPECT_EQ(ToText(batch.penalty), "2.448") << "24 hours";
}

// The group has a quota of 2 cores. A job of 3 cores never runs, although the pool has room.
TEST_F(PoolTest, TheQuotaOfATierHoldsBesideTheCapacity) {
  Add(0, 0, 0, 10, 3, [](int32_t) { return 0.5; });
  Add(0, 0, 0, 10, 2, [](int32_t) { return 0.5; });
  Add(1, 0, 0, 10, 3, [](int32_t) { return 0.5; });
  brain::QuotaSpec spec;
  spec.groups.push_back({"team", "", {{"production", "cpu", 2000}}});
  const auto tree = brain::QuotaTree::Make(spec);
  ASSERT_TRUE(tree.ok());
  const std::vector<std::string> groups = {"team"};
  options.quota = &*tree;
  options.groups = groups;
  const EconomyResult result = Run();
  EXPECT_EQ(result.policies[0].tiers[0].totals.at_once, 1U);
  EXPECT_EQ(result.policies[0].tiers[0].totals.never, 1U);
  EXPECT_EQ(result.policies[0].tiers[1].totals.at_once, 1U)
      << "a tier that the quota does not have is not limited";
}

// Together, the two jobs request 10 cores at their peak, and the capacity is half of this sum.
TEST_F(PoolTest, WithoutACapacityItIsAShareOfTheLimits) {
  Add(0, 0, 0, 10, 6, [](int32_t) { return 0.5; });
  Add(1, 0, 5, 20, 4, [](int32_t) { return 0.5; });
  options.capacity.reset();
  EXPECT_EQ(Run().capacity[0], 5000 * kWindowSeconds);
}

// The clairvoyant policy knows that 12 of 24 hours are less than the promised 90 %, and sells nothing. The seller
// of unsold capacity can sell 2 of 10 cores.
TEST_F(PoolTest, WhoKnowsTheFutureSellsNothingThatIsNotKept) {
  Add(0, 0, 0, kWindowsPerDay, 8, [](int32_t w) { return w < kWindowsPerDay / 2 ? 0.25 : 0.875; });
  Add(1, 1, 0, kWindowsPerDay, 6, [](int32_t) { return 0.5; });
  Add(1, 1, 0, kWindowsPerDay, 2, [](int32_t) { return 0.5; });
  options.policies = {SellerPolicy::kClairvoyant, SellerPolicy::kUnreserved};
  const EconomyResult result = Run();
  for (const EconomyPolicy& policy : result.policies) {
    EXPECT_EQ(policy.tiers[1].totals.at_once, 1U) << Name(policy.policy);
    EXPECT_EQ(policy.tiers[1].totals.never, 1U);
    EXPECT_EQ(policy.tiers[1].totals.available_share(), 1);
    EXPECT_EQ(ToText(policy.tiers[1].credits), "0.00");
  }
}

std::string TextOf(const EconomyResult& result) {
  std::string out;
  for (const EconomyPolicy& policy : result.policies) {
    out += std::string(Name(policy.policy)) + ToText(policy.bill.sums.total);
    for (const EconomyTier& tier : policy.tiers) {
      out += " " + std::to_string(tier.totals.ran_steps) + "/" + std::to_string(tier.totals.reclaims) + "/" +
             ToText(tier.charges) + "/" + ToText(tier.credits);
    }
    for (const PoolLines& lines : policy.lines) out += "," + std::to_string(lines.allocation[0]);
  }
  return out;
}

TEST_F(PoolTest, TheSameOnAnyNumberOfThreads) {
  Rng rng(9);
  AddRandom(rng, 25);
  options.threads = 1;
  const std::string one = TextOf(Run());
  options.threads = 5;
  EXPECT_EQ(TextOf(Run()), one);
}

// Only jobs that ran are billed, the bills add up to the total, and lines are in order.
TEST_F(PoolTest, BillsAreOfWhatRanAndTheLinesAreInOrder) {
  for (int seed = 1; seed <= Scaled(8); ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    days = MadeDays();
    jobs.clear();
    AddRandom(rng, 30);
    const EconomyResult result = Run();
    for (const EconomyPolicy& policy : result.policies) {
      std::array<PoolAmounts, 3> billed = {};
      int64_t total = 0, charges = 0, credits = 0;
      for (const brain::GroupBill& group : policy.bill.groups) {
        total += group.sums.total.micros;
        for (const brain::BillLine& line : group.lines) {
          billed[line.key.tier][static_cast<size_t>(line.key.resource)] +=
              static_cast<int64_t>(line.quantity);
          EXPECT_EQ(line.amount,
                    *brain::PriceTimes(line.rate, line.quantity, brain::QuantityPerRate(line.key.resource)));
        }
      }
      for (size_t tier = 0; tier < 3; ++tier) {
        const PoolLines& sums = policy.tiers[tier].totals.sums;
        EXPECT_EQ(billed[tier], tier == 0 ? sums.allocation : sums.usage) << Name(policy.policy) << tier;
        charges += policy.tiers[tier].charges.micros;
        credits += policy.tiers[tier].credits.micros;
        const bool sells = tier == 0 || policy.policy != SellerPolicy::kNone;
        EXPECT_TRUE(sells || sums.reservation == PoolAmounts{});
      }
      EXPECT_EQ(total, charges - credits);
      for (size_t step = 0; step < policy.lines.size(); ++step) {
        const PoolLines& lines = policy.lines[step];
        for (size_t i = 0; i < 2; ++i) {
          ASSERT_LE(lines.usage[i], lines.allocation[i]);
          ASSERT_LE(lines.allocation[i], lines.reservation[i]);
          ASSERT_LE(lines.usage[i], result.capacity[i]) << "no job uses more than its limit";
          ASSERT_LE(result.reserved[step][i], result.capacity[i]) << "limits do not grow";
        }
      }
    }
  }
}

TEST_F(PoolTest, NamesWhatIsWrong) {
  EXPECT_THAT(Error(), HasSubstr("the trace has no usage"));
  Add(0, 0, 0, 10, 1, [](int32_t) { return 0.5; });
  options.warmup_s = kDaySeconds;
  EXPECT_THAT(Error(), HasSubstr("invalid warm-up 24 h: expected less than the trace's 1 days"));
  options.warmup_s = 0;
  options.tiers[2] = brain::TierSale::kReserved;
  EXPECT_THAT(Error(), HasSubstr("tier \"free\" is reserved and \"batch\" above it is slack"));
  options.tiers[2] = brain::TierSale::kSlack;
  EXPECT_THAT(Error(), HasSubstr("tier \"free\" is slack and promises no availability; expected spare"));
  options.tiers[2] = brain::TierSale::kSpare;
  brain::QuotaSpec spec;
  spec.groups.push_back({"team", "", {{"production", "cpu", 50'000}}});
  const auto tree = brain::QuotaTree::Make(spec);
  ASSERT_TRUE(tree.ok());
  const std::vector<std::string> groups = {"teem"};
  options.quota = &*tree;
  options.groups = groups;
  EXPECT_THAT(Error(),
              HasSubstr("the quota of job \"job-0\": unknown group \"teem\"; did you mean \"team\"?"));
}

}  // namespace
}  // namespace taut::tools
