// Tests of the analog grid, the choice of a limit and the price of a target share.
#include "brain/recommend/analog_decision.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "brain/recommend/job_days_ring.h"
#include "common/base/random.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

const AnalogGrid& TheGrid() { return AnalogGrid::Get(); }

TEST(AnalogGrid, StepsAreHalfAPercentThenFivePercentOfTheDistance) {
  const int zero = AnalogGrid::kEdges / 2;
  EXPECT_EQ(TheGrid().Edge(zero), 0);
  for (int k = zero; k + 1 < AnalogGrid::kEdges; ++k) {
    const double step = TheGrid().Edge(k + 1) - TheGrid().Edge(k);
    ASSERT_NEAR(step, std::max(0.005, 0.05 * TheGrid().Edge(k)), 1e-12);
    ASSERT_EQ(TheGrid().Edge(2 * zero - k), -TheGrid().Edge(k));
    ASSERT_DOUBLE_EQ(TheGrid().Factor(k), std::exp(TheGrid().Edge(k)));
  }
  EXPECT_GT(TheGrid().Factor(AnalogGrid::kEdges - 1), 40);
}

// Bin k is (Edge(k-1), Edge(k)]: an edge belongs to the bin below it. A value that exceeds the edge by more than
// rounding belongs to the next bin.
TEST(AnalogGrid, EdgesBelongToTheBinBelow) {
  for (int k = 0; k < AnalogGrid::kEdges; ++k) {
    ASSERT_EQ(TheGrid().BinOf(TheGrid().Edge(k)), k);
    ASSERT_EQ(TheGrid().BinOf(TheGrid().Edge(k) + 1e-10), k) << "rounding noise";
    ASSERT_EQ(TheGrid().BinOf(TheGrid().Edge(k) + 1e-6), k + 1);
  }
  EXPECT_EQ(TheGrid().BinOf(-100), 0);
  EXPECT_EQ(TheGrid().BinOf(100), AnalogGrid::kBins - 1);
}

AnalogCdf RandomCdf(Rng& rng, double spread) {
  std::vector<double> shares(AnalogGrid::kBins);
  for (int i = 0; i < 60; ++i)
    shares[static_cast<size_t>(TheGrid().BinOf(spread * rng.Normal()))] += 1.0 / 60;
  AnalogCdf cdf;
  double sum = 0;
  for (size_t k = 0; k < cdf.at.size(); ++k) cdf.at[k] = static_cast<float>(sum += shares[k]);
  return cdf;
}

// The forecast has 2 % of its outcomes above the whole grid. A target share that no limit meets must not raise
// the limit above the owner's limit or 1.5 times the job's peak.
TEST(ChooseForOrder, IsNotAboveTheOwnersLimitAndTheJobsOwnPeaks) {
  AnalogCdf cdf;
  for (size_t k = 0; k < cdf.at.size(); ++k)
    // 2 % of the outcomes are above the whole grid
    cdf.at[k] = TheGrid().Edge(static_cast<int>(k)) < 0 ? 0.0F : 0.98F;
  AnalogCase job;
  job.week_peak = 4e9;
  const auto chosen = [&](double share) {
    return ChooseForOrder(cdf, job, Resource::kMemory, share, AnalogSettings());
  };
  EXPECT_GT(chosen(0.003).limit, 40e9) << "without an owner's limit nothing says what is too much";
  job.owner_limit = 10e9;
  EXPECT_EQ(chosen(0.003).limit, 10e9);
  EXPECT_NEAR(chosen(0.003).overrun_chance, 0.02, 1e-6) << "and the chance is that of this limit";
  EXPECT_FALSE(chosen(0.003).kept);
  EXPECT_LT(chosen(0.03).limit, 4.1e9) << "an order that can be kept is";
  job.owner_limit = 1e9;
  EXPECT_EQ(chosen(0.003).limit, 6e9) << "a job above its owner's limit gets more than that";
  job.kept_limit = 6e9;
  EXPECT_TRUE(chosen(0.003).kept);
  job.floor = 7e9;
  EXPECT_EQ(chosen(0.003).limit, 7e9) << "what it used yesterday it gets";
}

RC_GTEST_PROP(AnalogCdf, ExceedanceFallsAndMeetsTheEdges, ()) {
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  const AnalogCdf cdf = RandomCdf(rng, *rc::gen::element(0.01, 0.3, 3.0));
  double last = 1;
  for (int i = -1000; i <= 1000; ++i) {
    const double chance = cdf.Exceedance(i * 0.01);
    RC_ASSERT(chance <= last + 1e-9);
    last = chance;
  }
  for (int k = 0; k < AnalogGrid::kEdges; ++k) {
    RC_ASSERT(std::abs(cdf.Exceedance(TheGrid().Edge(k)) - (1 - double{cdf.at[static_cast<size_t>(k)]})) <
              1e-6);
  }
  RC_ASSERT(cdf.Exceedance(-1e3) == 1);
}

// MixForecast returns S = (O + w F) / (|O| + w).
TEST(MixForecast, IsTheWeightedSumOfFleetAndOwnDays) {
  std::vector<float> fleet(AnalogGrid::kBins);
  fleet[10] = 0.25F;
  fleet[100] = 0.75F;
  OwnHistory own;
  own.size = 2;
  own.bin[0] = 100;
  own.weight[0] = 4;
  own.bin[1] = 150;
  own.weight[1] = 1;
  const AnalogCdf cdf = MixForecast(std::span<const float, AnalogGrid::kBins>(fleet), own, 20);
  EXPECT_FLOAT_EQ(cdf.at[9], 0);
  EXPECT_FLOAT_EQ(cdf.at[10], 5.0F / 25);
  EXPECT_FLOAT_EQ(cdf.at[99], 5.0F / 25);
  EXPECT_FLOAT_EQ(cdf.at[100], 24.0F / 25);
  EXPECT_FLOAT_EQ(cdf.at[150], 1);
}

struct Puzzle {
  AnalogCdf cdf;
  AnalogCase job;
  Resource resource = Resource::kMemory;
  double price = 0;
};

Puzzle RandomPuzzle(Rng& rng) {
  Puzzle p;
  p.resource = rng.Below(2) == 0 ? Resource::kCpu : Resource::kMemory;
  const double unit = AnalogLevel(p.resource);
  p.cdf = RandomCdf(rng, rng.Uniform(0.02, 0.8));
  p.job.week_peak = unit * std::exp(rng.Uniform(-2, 5));
  p.job.floor = p.job.week_peak * rng.Uniform(0, 1.2);
  if (rng.Below(2) == 0) p.job.owner_limit = p.job.week_peak * rng.Uniform(0.3, 4);
  if (rng.Below(2) == 0) p.job.kept_limit = p.job.week_peak * rng.Uniform(0.3, 3);
  p.price = unit * std::exp(rng.Uniform(-4, 8));
  if (rng.Below(2) == 0) p.job.tasks = rng.Uniform(1, 200);
  return p;
}

// Returns the cheapest allowed limit of the grid.
double CheapestAllowed(const Puzzle& p, const AnalogSettings& s) {
  const double level = AnalogLevel(p.resource), base = p.job.week_peak + level;
  double best = INFINITY;
  for (int k = 0; k < AnalogGrid::kEdges; ++k) {
    const double limit = base * TheGrid().Factor(k) - level;
    const double chance = p.cdf.Exceedance(TheGrid().Edge(k));
    if (limit < p.job.floor || chance > s.MostChance(Resource::kMemory) + 1e-6) continue;
    best = std::min(best, limit + p.price / p.job.tasks * chance);
  }
  return best;
}

RC_GTEST_PROP(ChooseLimit, IsTheCheapestAllowedOrYesterdays, ()) {
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  const Puzzle p = RandomPuzzle(rng);
  AnalogSettings s;
  const AnalogChoice c = ChooseLimit(p.cdf, p.job, p.resource, p.price, s);
  const double cheapest = CheapestAllowed(p, s);
  RC_PRE(std::isfinite(cheapest));
  const double level = AnalogLevel(p.resource), base = p.job.week_peak + level;
  const double tolerance = 1e-6 * (cheapest + p.price);
  RC_ASSERT(std::abs(c.overrun_chance - p.cdf.Exceedance(std::log((c.limit + level) / base))) < 1e-5);
  RC_ASSERT(std::abs(c.cost - (c.limit + p.price / p.job.tasks * c.overrun_chance)) <= tolerance);
  if (c.kept) {
    RC_ASSERT(c.limit == p.job.kept_limit);
    RC_ASSERT(c.cost <= cheapest * (1 + s.keep) + tolerance);
    RC_ASSERT(c.overrun_chance <= s.MostChance(Resource::kMemory) + 1e-6);
  } else {
    RC_ASSERT(std::abs(c.cost - cheapest) <= tolerance);
  }
  RC_ASSERT(c.limit >= p.job.floor * (1 - 1e-9));
  RC_ASSERT(c.overrun_chance <= s.MostChance(Resource::kMemory) + 1e-6);
}

// Without a kept limit, a higher price of an OOM-day never lowers the limit.
RC_GTEST_PROP(ChooseLimit, RisesWithThePrice, ()) {
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  Puzzle p = RandomPuzzle(rng);
  p.job.kept_limit = -1;
  double last = 0;
  for (int i = -20; i < 40; ++i) {
    const AnalogChoice c =
        ChooseLimit(p.cdf, p.job, p.resource, p.price * std::exp(0.5 * i), AnalogSettings());
    RC_ASSERT(c.limit >= last);
    last = c.limit;
  }
}

// An OOM-day costs a job of many tasks no more than a job of one task, but each task reserves the limit.
RC_GTEST_PROP(ChooseLimit, FallsWithTheNumberOfTasks, ()) {
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  Puzzle p = RandomPuzzle(rng);
  p.job.kept_limit = -1;
  double last = INFINITY;
  for (const double tasks : {1.0, 1.5, 4.0, 50.0, 5000.0}) {
    p.job.tasks = tasks;
    const AnalogChoice c = ChooseLimit(p.cdf, p.job, p.resource, p.price, AnalogSettings());
    RC_ASSERT(c.limit <= last);
    last = c.limit;
  }
}

TEST(ChooseLimit, KeepsYesterdaysWithinItsTolerance) {
  AnalogCdf certain;
  for (size_t k = 0; k < certain.at.size(); ++k) {
    certain.at[k] =
        TheGrid().Edge(static_cast<int>(k)) >= 0 ? 1.0F : 0.0F;  // tomorrow's peak equals the week's peak
  }
  AnalogCase job;
  job.week_peak = 1000 * kMiB;
  AnalogSettings settings;
  settings.keep = 0.1;
  for (const auto& [kept, stays] : {std::pair{1.09, true}, std::pair{1.11, false}, std::pair{0.99, false}}) {
    job.kept_limit = kept * job.week_peak;
    const AnalogChoice c = ChooseLimit(certain, job, Resource::kMemory, 1e12, settings);
    EXPECT_EQ(c.kept, stays) << kept;
    EXPECT_NEAR(c.limit, stays ? job.kept_limit : job.week_peak, 1);
  }
}

RC_GTEST_PROP(SolvePrice, HitsTheOrderedShare, ()) {
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  std::vector<AnalogCdf> cdfs;
  std::vector<AnalogCase> jobs;
  for (int i = 0; i < 200; ++i) {
    Puzzle p = RandomPuzzle(rng);
    p.job.owner_limit = p.job.kept_limit = -1;
    p.job.floor = 0;
    cdfs.push_back(p.cdf);
    jobs.push_back(p.job);
  }
  double last = INFINITY;
  for (double share : {0.01, 0.03, 0.08, 0.2}) {
    AnalogSettings settings;
    settings.max_overrun_chance = 0.5;
    const double price = SolvePrice(cdfs, jobs, Resource::kMemory, share, settings);
    RC_ASSERT(price <= last);  // a higher target share has a lower price
    last = price;
    double chance = 0;
    for (size_t i = 0; i < jobs.size(); ++i) {
      chance += ChooseLimit(cdfs[i], jobs[i], Resource::kMemory, price, settings).overrun_chance;
    }
    // Each job's chance changes in steps of 1/60, so the mean may differ from the share by one step of one of
    // 200 jobs.
    RC_ASSERT(chance / 200 <= share + 1e-9);
    RC_ASSERT(chance / 200 >= share - 0.005);
  }
}

TEST(SolvePrice, GivesTheNearestEndWhereNoPriceDoes) {
  AnalogCdf never;
  never.at.fill(0.6F);  // 40 % of the outcomes are above the whole grid
  AnalogCase job;
  job.week_peak = 100 * kMiB;
  const std::vector<AnalogCdf> cdfs = {never};
  const std::vector<AnalogCase> jobs = {job};
  const double price = SolvePrice(cdfs, jobs, Resource::kMemory, 0.01, AnalogSettings());
  EXPECT_NEAR(price, 1e4 * job.week_peak, 1e-3 * price);
}

// A step of a known forecast: P(next day's peak <= factor * the week's peak) = cumulative.
struct Step {
  double factor, cumulative;
};
AnalogCdf Steps(const std::vector<Step>& steps) {
  AnalogCdf cdf;
  for (size_t k = 0; k < cdf.at.size(); ++k) {
    cdf.at[k] = 0;
    for (const Step& s : steps) {
      if (TheGrid().Edge(static_cast<int>(k)) >= std::log(s.factor))
        cdf.at[k] = static_cast<float>(s.cumulative);
    }
  }
  return cdf;
}
// AnalogLevel of memory is 16 MiB, so kPeak plus the level is a power of two.
constexpr double kPeak = 1008 * kMiB, kWithLevel = 1024 * kMiB;
AnalogCase OfPeak() {
  AnalogCase job;
  job.week_peak = kPeak;
  return job;
}
// Returns the least limit of the grid that is at least `factor` times the week's peak.
double OnGrid(double factor) {
  int k = 0;
  while (TheGrid().Edge(k) < std::log(factor)) ++k;
  return kWithLevel * TheGrid().Factor(k) - 16 * kMiB;
}

// The ring keeps 28 own days, and all days count.
TEST(MixForecast, CountsAllOwnDays) {
  const std::vector<float> fleet(AnalogGrid::kBins, 1.0F / AnalogGrid::kBins);
  OwnHistory own;
  own.size = OwnHistory::kMax;
  own.bin.fill(50);
  own.weight.fill(1);
  const AnalogCdf cdf = MixForecast(std::span<const float, AnalogGrid::kBins>(fleet), own, 4);
  EXPECT_NEAR(cdf.at[49], 4.0 * 50 / AnalogGrid::kBins / 32, 1e-5);
  EXPECT_NEAR(cdf.at[50], (4.0 * 51 / AnalogGrid::kBins + 28) / 32, 1e-5);
}

// A job with constant usage has a median equal to its peak, so the peak is the limit today and tomorrow.
TEST(ChooseLimit, AConstantJobGetsItsPeakAndKeepsIt) {
  AnalogSettings settings;
  settings.keep = 0;
  AnalogCase job = OfPeak();
  job.floor = kPeak;
  const AnalogChoice first = ChooseLimit(Steps({{1, 1}}), job, Resource::kMemory, 1e12, settings);
  EXPECT_EQ(first.limit, kPeak);
  EXPECT_EQ(first.cost, kPeak);
  EXPECT_FALSE(first.kept);
  job.kept_limit = first.limit;
  const AnalogChoice next = ChooseLimit(Steps({{1, 1}}), job, Resource::kMemory, 1e12, settings);
  EXPECT_EQ(next.limit, kPeak);
  EXPECT_TRUE(next.kept);
}

TEST(ChooseLimit, AnIdleJobKeepsALimitOfNothing) {
  AnalogCase idle;
  idle.kept_limit = 0;
  const AnalogChoice c = ChooseLimit(Steps({{1, 1}}), idle, Resource::kMemory, 1e12, AnalogSettings());
  EXPECT_EQ(c.limit, 0);
  EXPECT_TRUE(c.kept);
}

// The limit is at least the median of yesterday's windows, although a lower limit was in force and is cheaper.
TEST(ChooseLimit, DoesNotKeepWhatIsBelowTheFloor) {
  AnalogCase job = OfPeak();
  job.floor = 0.9 * kPeak;
  job.kept_limit = 0.6 * kPeak;
  const AnalogChoice c = ChooseLimit(Steps({{0.5, 1}}), job, Resource::kMemory, 1, AnalogSettings());
  EXPECT_FALSE(c.kept);
  EXPECT_NEAR(c.limit, OnGrid(0.905), 0.01 * kPeak);
  EXPECT_GE(c.limit, job.floor);
}

// A kept limit between two edges of the grid costs little more than the best limit, and may be below the best
// limit.
TEST(ChooseLimit, MayKeepALimitBelowTheBest) {
  AnalogSettings settings;
  settings.max_overrun_chance = 0.5;
  AnalogCase job = OfPeak();
  job.kept_limit = kWithLevel * std::exp(-0.001) - 16 * kMiB;  // a fifth of the way to the edge below
  const AnalogChoice c = ChooseLimit(Steps({{1, 1}}), job, Resource::kMemory, 0.1 * kPeak, settings);
  EXPECT_TRUE(c.kept);
  EXPECT_NEAR(c.overrun_chance, 0.2, 1e-6);
  EXPECT_NEAR(c.cost, job.kept_limit + 0.02 * kPeak, 1e-6 * kPeak);
}

// If no limit has an allowed chance, the highest limit of the grid is chosen, with its chance and cost.
TEST(ChooseLimit, IsTheHighestWhereNoneIsAllowed) {
  AnalogCase job = OfPeak();
  job.tasks = 4;
  job.kept_limit = 2 * kPeak;
  const double price = 8 * kPeak;
  const AnalogChoice c = ChooseLimit(Steps({{1, 0.75}}), job, Resource::kMemory, price, AnalogSettings());
  const double highest = kWithLevel * TheGrid().Factor(AnalogGrid::kEdges - 1) - 16 * kMiB;
  EXPECT_DOUBLE_EQ(c.limit, highest);
  EXPECT_EQ(c.overrun_chance, 0.25);
  EXPECT_DOUBLE_EQ(c.cost, highest + price / 4 * 0.25);
  EXPECT_FALSE(c.kept);
}

TEST(ChooseForOrder, AnOwnersLimitOfNothingIsOne) {
  AnalogCase job = OfPeak();
  const AnalogCdf endless = Steps({{1, 0.98}});
  EXPECT_GT(ChooseForOrder(endless, job, Resource::kMemory, 0.003, AnalogSettings()).limit, 40 * kPeak);
  job.owner_limit = 0;
  EXPECT_EQ(ChooseForOrder(endless, job, Resource::kMemory, 0.003, AnalogSettings()).limit, 1.5 * kPeak);
}

// One day in five has twice the peak of the week before, and a chance of a tenth is allowed. At a low price the
// week's peak has the least cost.
TEST(BoundOf, TheChanceThatIsAllowed) {
  const AnalogCdf cdf = Steps({{1, 0.8}, {2, 1}});
  const AnalogSettings settings;
  const double price = 2 * kPeak;
  for (const double floor : {0.5 * kPeak, 1.2 * kPeak}) {
    AnalogCase job = OfPeak();
    job.floor = floor;
    const AnalogChoice choice = ChooseLimit(cdf, job, Resource::kMemory, price, settings);
    EXPECT_DOUBLE_EQ(choice.limit, OnGrid(2));
    const AnalogBound bound = BoundOf(choice, cdf, job, Resource::kMemory, price, settings);
    EXPECT_EQ(bound.kind, "most_chance") << "the floor alone would not have made it higher than 1.2 times";
    EXPECT_EQ(bound.what, "a chance of at most 10 %");
    EXPECT_EQ(bound.free_limit, kPeak);
    EXPECT_NEAR(bound.free_cost, kPeak + 0.2 * price, 1e-6 * kPeak);
  }
}

TEST(BoundOf, TheMedianOfTheLastDay) {
  const double price = 1.5 * kPeak;
  for (const double chance : {0.0, 0.25}) {
    AnalogSettings settings;
    settings.max_overrun_chance = 0.25;
    const AnalogCdf cdf = Steps({{1, 1 - chance}, {2, 1}});
    AnalogCase job = OfPeak();
    job.floor = 1.2 * kPeak;
    const AnalogChoice choice = ChooseLimit(cdf, job, Resource::kMemory, price, settings);
    EXPECT_DOUBLE_EQ(choice.limit, OnGrid(1.2));
    const AnalogBound bound = BoundOf(choice, cdf, job, Resource::kMemory, price, settings);
    EXPECT_EQ(bound.kind, "median") << "a chance of just what is allowed is allowed";
    EXPECT_EQ(bound.what, "not below the median usage of the last day");
    EXPECT_EQ(bound.free_limit, kPeak);
  }
}

TEST(BoundOf, NothingBindsTheLeastCostAndWhatIsKept) {
  const AnalogCdf cdf = Steps({{1, 1}});
  AnalogCase job = OfPeak();
  AnalogChoice choice = ChooseLimit(cdf, job, Resource::kMemory, 1e12, AnalogSettings());
  AnalogBound bound = BoundOf(choice, cdf, job, Resource::kMemory, 1e12, AnalogSettings());
  EXPECT_EQ(bound.kind, "");
  EXPECT_EQ(bound.free_limit, kPeak);
  job.kept_limit = 1.05 * kPeak;
  choice = ChooseLimit(cdf, job, Resource::kMemory, 1e12, AnalogSettings());
  EXPECT_TRUE(choice.kept);
  bound = BoundOf(choice, cdf, job, Resource::kMemory, 1e12, AnalogSettings());
  EXPECT_EQ(bound.kind, "");
  EXPECT_EQ(bound.free_limit, kPeak) << "what it would have been with nothing to keep";
}

// The ends of the range of prices are 1e-12 and 1e4 times the mean owner's limit. The week's peak replaces a
// missing owner's limit.
TEST(SolvePrice, ItsEndsAreSharesOfTheMeanLimit) {
  std::vector<AnalogCase> jobs(2, OfPeak());
  jobs[0].owner_limit = 0;
  jobs[1].owner_limit = 3 * kPeak;
  const auto solved = [&](const AnalogCdf& cdf) {
    return SolvePrice(std::vector<AnalogCdf>{cdf, cdf}, jobs, Resource::kMemory, 0.01, AnalogSettings());
  };
  EXPECT_NEAR(solved(Steps({{1, 0.6}})) / (1.5e4 * kPeak), 1, 1e-6) << "nothing is dear enough";
  EXPECT_NEAR(solved(Steps({{1, 1}})) / (1.5e-12 * kPeak), 1, 1e-6) << "no day is over the limit anyway";
  jobs[1].owner_limit = -1;
  EXPECT_NEAR(solved(Steps({{1, 0.6}})) / (0.5e4 * kPeak), 1, 1e-6);
  jobs.assign(2, AnalogCase());
  EXPECT_NEAR(solved(Steps({{1, 0.6}})) / (1e4 * 16 * kMiB), 1, 1e-6) << "of idle jobs the level stands in";
}

// A price that yields exactly the target share is returned: the target share and the share of days above the
// limit are both a quarter.
TEST(SolvePrice, DeliversAnOrderThatIsMetExactly) {
  AnalogSettings settings;
  settings.max_overrun_chance = 0.5;
  const std::vector<AnalogCdf> cdfs = {Steps({{1, 0.75}, {2, 1}})};
  const std::vector<AnalogCase> jobs = {OfPeak()};
  const double price = SolvePrice(cdfs, jobs, Resource::kMemory, 0.25, settings);
  EXPECT_EQ(ChooseLimit(cdfs[0], jobs[0], Resource::kMemory, price, settings).overrun_chance, 0.25);
  // At the price `turn`, a quarter of the price equals the cost of the higher limit. A lower target share
  // requires a higher price.
  const double turn = (OnGrid(2) - kPeak) / 0.25;
  EXPECT_NEAR(SolvePrice(cdfs, jobs, Resource::kMemory, 0.2, settings) / turn, 1, 1e-6);
  // Jobs with a price factor of 2 halve the fleet's price.
  std::vector<AnalogCase> dear = jobs;
  dear[0].price_factor = 2;
  EXPECT_NEAR(SolvePrice(cdfs, dear, Resource::kMemory, 0.2, settings) / turn, 0.5, 1e-6);
}

}  // namespace
}  // namespace taut::brain
