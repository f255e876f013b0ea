#include "tools/sim/tier_simulation.h"

#include <cmath>
#include <limits>

#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr PoolAmounts kHundred = {100, 1'000'000};

// A job that requests a constant amount of CPU.
struct Asked {
  int32_t first = 0, last = 0;
  int64_t cpu = 0;
  int64_t use = 0;
};

// A tier with the jobs of `asked`, below higher tiers that use `higher[step]`.
struct TierSimulationTest : testing::Test {
  void Run(SellerPolicy policy, std::unique_ptr<TierQuota> quota = nullptr) {
    period.resize(higher.size(), 0);
    options.capacity = kHundred;
    options.period = period;
    for (const Asked& a : asked) lives.push_back({a.first, a.last, 0});
    TierSellerOptions seller;
    seller.capacity = kHundred;
    seller.availability_ppm = std::max<int64_t>(1, options.availability_ppm);
    std::vector<std::vector<AskChange>> asks;
    for (const Asked& a : asked) asks.push_back({{a.first, {a.cpu, 0}}, {a.last + 1, {-1, -1}}});
    PoolFuture future;
    future.period = period;
    future.asks = asks;
    for (const double use : higher) {
      future.available[0].push_back(100 - use);
      future.available[1].push_back(1'000'000);
    }
    auto made = NewTierSeller(policy, seller, &future);
    ASSERT_TRUE(made.ok()) << made.status();
    run = std::make_unique<TierSimulation>(options, lives, *std::move(made), std::move(quota));
    for (size_t step = 0; step < higher.size(); ++step) {
      std::vector<PoolJobStep> jobs;
      for (uint32_t j = 0; j < asked.size(); ++j) {
        const Asked& a = asked[j];
        const auto now = static_cast<int32_t>(step);
        if (a.first <= now && now <= a.last) jobs.push_back({j, {a.cpu, 0}, {a.use, 0}});
      }
      TierStep in;
      in.higher_use = {higher[step], std::isnan(higher[step]) ? higher[step] : 0};
      in.jobs = jobs;
      ASSERT_TRUE(run->Step(in, lines.emplace_back(), &decisions).ok());
    }
    run->Finish();
  }
  std::vector<std::string> Said() const {
    std::vector<std::string> out;
    for (const SaleDecision& d : decisions)
      out.push_back(std::to_string(d.step) + " " + std::to_string(d.job) + " " + std::string(Name(d.event)));
    return out;
  }
  std::vector<int64_t> Ran() const {
    std::vector<int64_t> out;
    for (const PoolLines& l : lines) out.push_back(l.allocation[0]);
    return out;
  }

  TierSimulationOptions options;
  std::vector<double> higher;
  std::vector<Asked> asked;
  std::vector<int32_t> period;
  std::vector<PoolJob> lives;
  std::unique_ptr<TierSimulation> run;
  std::vector<PoolLines> lines;
  std::vector<SaleDecision> decisions;
};

// 60 of 100 are sold, so the second job of 60 waits until the first job ends, and then runs to its end.
TEST_F(TierSimulationTest, AReservedTierIsSoldAgainstTheCapacity) {
  higher.assign(6, 0);
  asked = {{0, 2, 60, 50}, {1, 5, 60, 50}, {1, 5, 40, 10}};
  options.reclaimable = false;
  options.patience_steps = 1;
  Run(SellerPolicy::kUnreserved);
  EXPECT_THAT(Said(), ElementsAre("0 0 admitted", "1 1 queued", "1 2 admitted", "3 1 admitted"));
  EXPECT_THAT(Ran(), ElementsAre(60, 100, 100, 100, 100, 100));
  EXPECT_EQ(lines[1].usage[0], 60);
  const TierTotals totals = run->Totals();
  EXPECT_EQ(totals.jobs, 3U);
  EXPECT_EQ(totals.at_once, 2U);
  EXPECT_EQ(totals.later, 1U);
  EXPECT_EQ(totals.never, 0U);
  EXPECT_EQ(totals.available_share(), 1);
  EXPECT_EQ(totals.sums.reservation[0], 60 + 5 * 100);
}

// Higher tiers use 20, 20, 70, 50 and 20 of 100. If 80 are left, both jobs (30 and 40) run. If only 30 or 50 are
// left, only the job of 30 runs.
TEST_F(TierSimulationTest, TheNewestIsReclaimedAndRunsAgain) {
  higher = {20, 20, 70, 50, 20};
  asked = {{0, 4, 30, 20}, {0, 4, 40, 30}};
  options.availability_ppm = 600'000;
  Run(SellerPolicy::kAll);
  EXPECT_THAT(Said(), ElementsAre("0 0 admitted", "0 1 admitted", "2 1 reclaimed", "4 1 resumed"));
  EXPECT_THAT(decisions[2].reason, HasSubstr("leave 0.0001 cores"));
  EXPECT_THAT(Ran(), ElementsAre(70, 70, 30, 30, 70));
  for (const PoolLines& l : lines) EXPECT_EQ(l.reservation[0], 70) << "what is sold stays sold";
  const SoldJob& second = run->jobs()[1];
  EXPECT_TRUE(second.RunsAt(1));
  EXPECT_FALSE(second.RunsAt(2));
  EXPECT_FALSE(second.RunsAt(3));
  EXPECT_TRUE(second.RunsAt(4));
  EXPECT_FALSE(second.RunsAt(5));
  EXPECT_EQ(second.In(0)->ran, 3);
  EXPECT_EQ(second.In(0)->wanted, 5);
  EXPECT_TRUE(second.In(0)->Kept(600'000)) << "3 of 5 are 60 %";
  EXPECT_FALSE(second.In(0)->Kept(600'001));
  EXPECT_EQ(run->Totals().reclaims, 1U);
  EXPECT_EQ(run->Totals().job_periods_kept, 2U);
  EXPECT_EQ(run->Totals().ran_steps, 8);
}

// 11 of 100 are reclaimed, so the large job stops. The newer small jobs still fit and continue to run.
TEST_F(TierSimulationTest, ThoseThatNeedNotGoStay) {
  higher = {0, 11, 0};
  asked = {{0, 2, 10, 1}, {0, 2, 80, 1}, {0, 2, 5, 1}, {0, 2, 5, 1}};
  Run(SellerPolicy::kAll);
  EXPECT_EQ(Said().size(), 6U);
  EXPECT_EQ(Said()[4], "1 1 reclaimed");
  EXPECT_EQ(Said()[5], "2 1 resumed");
}

// A newer job that ran only because an older job was stopped gives way to the older job.
TEST_F(TierSimulationTest, WhoFitsTogetherWithAllOlderOnesRuns) {
  higher = {0, 80, 80, 30};
  asked = {{0, 3, 60, 1}, {1, 3, 20, 1}};
  Run(SellerPolicy::kAll);
  EXPECT_THAT(Said(),
              ElementsAre("0 0 admitted", "1 1 admitted", "1 0 reclaimed", "3 0 resumed", "3 1 reclaimed"));
  EXPECT_EQ(decisions[4].reason, "an older job that was reclaimed fits again");
  EXPECT_THAT(Ran(), ElementsAre(60, 20, 20, 60));
}

TEST_F(TierSimulationTest, WhatComesBackIsFreeAfterTheReclaimWindow) {
  higher = {0, 60, 0, 0, 0, 0};
  asked = {{0, 5, 50, 50}};
  options.reclaim_steps = 2;
  Run(SellerPolicy::kAll);
  EXPECT_THAT(Ran(), ElementsAre(50, 0, 0, 0, 50, 50));
}

TEST_F(TierSimulationTest, NothingIsSoldBeforeItsTimeOrByThePolicyNone) {
  higher.assign(4, 0);
  asked = {{0, 3, 50, 50}};
  options.sale_from = options.count_from = 2;
  Run(SellerPolicy::kAll);
  EXPECT_THAT(Said(), ElementsAre("2 0 admitted"));
  EXPECT_THAT(Ran(), ElementsAre(0, 0, 50, 50));
  EXPECT_EQ(run->Totals().wanted_steps, 2);
  lines.clear(), decisions.clear(), lives.clear();
  Run(SellerPolicy::kNone);
  EXPECT_THAT(Said(), ElementsAre("2 0 queued"));
  EXPECT_THAT(Ran(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(run->Totals().never, 1U);
}

// 90 are available. Greedy sells 100 for a promise of 0.9, which is 10 more than available.
TEST_F(TierSimulationTest, AJobWaitsAndIsRefusedWhenItEnds) {
  higher.assign(5, 10);
  asked = {{0, 4, 60, 1}, {0, 2, 50, 1}, {1, 4, 40, 1}};
  options.availability_ppm = 900'000;
  Run(SellerPolicy::kGreedy);
  EXPECT_THAT(Said(), ElementsAre("0 0 queued", "0 1 queued", "1 0 admitted", "1 2 admitted", "1 2 reclaimed",
                                  "3 1 refused"));
  EXPECT_THAT(decisions[0].reason, HasSubstr("nothing is measured yet"));
  EXPECT_THAT(Ran(), ElementsAre(0, 60, 60, 60, 60));
}

// Steps without a measurement have no jobs. They count neither as kept nor as missed.
TEST_F(TierSimulationTest, WhatIsNotMeasuredIsNotAccounted) {
  higher = {10, std::numeric_limits<double>::quiet_NaN(), 10};
  asked = {{0, 0, 50, 1}};
  lives = {{0, 2, 0}};
  Run(SellerPolicy::kAll);
  EXPECT_EQ(run->jobs()[0].In(0)->wanted, 1);
  EXPECT_EQ(run->Totals().available_share(), 1);
}

// The group has a quota of 50 millicores. Its second job waits until the first job ends, and its job of 60 never
// runs.
TEST_F(TierSimulationTest, NothingIsSoldBeyondTheQuota) {
  higher.assign(4, 0);
  const auto cores = [](int64_t millicores) { return millicores * kWindowSeconds; };
  asked = {{0, 1, cores(40), 1}, {0, 3, cores(20), 1}, {0, 3, cores(60), 1}};
  brain::QuotaSpec spec;
  spec.groups.push_back({"team", "", {{"batch", "cpu", 50}}});
  auto tree = brain::QuotaTree::Make(spec);
  ASSERT_TRUE(tree.ok()) << tree.status();
  const std::vector<std::string> groups = {"team"};
  options.reclaimable = false;
  Run(SellerPolicy::kAll, std::make_unique<TierQuota>(*std::move(tree), "batch", groups));
  EXPECT_THAT(Said(), ElementsAre("0 0 admitted", "0 1 queued", "0 2 refused", "2 1 admitted"));
  EXPECT_THAT(decisions[1].reason, HasSubstr("\"team\" has 0.01 cores left of the 0.02 cores asked for"));
}

// Checks tiers drawn at random. Running jobs fit into the capacity left by higher tiers and are sold. Totals are
// the sums of the lines. The clairvoyant seller keeps every promise.
TEST(TierSimulationProperty, WhatRunsFitsAndTheClairvoyantKeepsEveryPromise) {
  Rng rng(5);
  for (int round = 0; round < 120; ++round) {
    const int32_t steps = 400;
    std::vector<int32_t> period;
    for (int32_t step = 0; step < steps; ++step) period.push_back(step / 150);
    const size_t jobs = 1 + rng.Below(20);
    std::vector<PoolJob> lives;
    for (size_t j = 0; j < jobs; ++j) {
      const auto first = static_cast<int32_t>(rng.Below(steps));
      lives.push_back(
          {first, first + static_cast<int32_t>(rng.Below(static_cast<uint64_t>(steps - first))), 0});
    }
    std::vector<double> higher;
    for (int32_t step = 0; step < steps; ++step) higher.push_back(static_cast<double>(rng.Below(101)));
    // Requests of each job by step; absent in some steps.
    std::vector<std::vector<AskChange>> asks(jobs);
    for (size_t j = 0; j < jobs; ++j) {
      for (int32_t step = lives[j].first_step; step <= lives[j].last_step; ++step) {
        const auto ask = static_cast<int64_t>(rng.Below(60));
        const bool ends = step == lives[j].first_step || step == lives[j].last_step;
        asks[j].push_back(
            {step, !ends && rng.Below(4) == 0 ? PoolAmounts{-1, -1} : PoolAmounts{ask, ask / 2}});
      }
    }
    PoolFuture future{{}, period, asks};
    for (const double use : higher) {
      future.available[0].push_back(100 - use);
      future.available[1].push_back(100 - use);
    }
    const SellerPolicyInfo& info = SellerPolicies()[rng.Below(SellerPolicies().size())];
    TierSellerOptions seller;
    seller.capacity = {100, 100};
    seller.availability_ppm = 500'000 + static_cast<int64_t>(rng.Below(500'000));
    TierSimulationOptions options;
    options.capacity = seller.capacity;
    options.availability_ppm = seller.availability_ppm;
    options.sale_from = options.count_from = 50;
    options.period = period;
    TierSimulation run(options, lives, *NewTierSeller(info.policy, seller, &future), nullptr);
    PoolLines sums;
    for (int32_t step = 0; step < steps; ++step) {
      std::vector<PoolJobStep> of_step;
      for (uint32_t j = 0; j < jobs; ++j) {
        if (step < lives[j].first_step || step > lives[j].last_step) continue;
        const PoolAmounts ask = asks[j][static_cast<size_t>(step - lives[j].first_step)].ask;
        if (ask[0] >= 0) of_step.push_back({j, ask, {ask[0] / 3, ask[1] / 2}});
      }
      PoolLines lines;
      const double use = higher[static_cast<size_t>(step)];
      ASSERT_TRUE(run.Step({{use, use}, {}, of_step}, lines, nullptr).ok());
      for (size_t i = 0; i < 2; ++i) {
        ASSERT_LE(lines.usage[i], lines.allocation[i]);
        ASSERT_LE(lines.allocation[i], lines.reservation[i]);
        ASSERT_LE(static_cast<double>(lines.allocation[i]), 100 - use) << info.name;
        const bool sells = info.policy != SellerPolicy::kNone && step >= 50;
        ASSERT_TRUE(sells || lines.reservation[i] == 0);
        sums.usage[i] += lines.usage[i];
        sums.reservation[i] += lines.reservation[i];
      }
    }
    run.Finish();
    const TierTotals totals = run.Totals();
    EXPECT_EQ(totals.sums.usage, sums.usage);
    EXPECT_EQ(totals.sums.reservation, sums.reservation);
    EXPECT_EQ(totals.jobs, totals.at_once + totals.later + totals.never);
    int64_t ran = 0;
    for (const SoldJob& job : run.jobs()) {
      for (int32_t step = std::max(50, lives[job.job].first_step); step <= lives[job.job].last_step; ++step) {
        const bool has_usage =
            asks[job.job][static_cast<size_t>(step - lives[job.job].first_step)].ask[0] >= 0;
        ran += has_usage && job.RunsAt(step) ? 1 : 0;
      }
    }
    EXPECT_TRUE(info.policy != SellerPolicy::kClairvoyant || totals.job_periods_kept == totals.job_periods);
    EXPECT_EQ(totals.ran_steps, ran);
  }
}

}  // namespace
}  // namespace taut::tools
