// Tests of the control that keeps the share of work above the limits at its target.
#include <algorithm>
#include <cmath>

#include "brain/recommend/work_function.h"
#include "common/base/random.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

WorkFunctionSettings AtOneInAThousand() {
  WorkFunctionSettings s;
  s.cpu_throttled = 0.001;
  return s;
}

FleetRow DayOfWork(double over, double used) {
  FleetRow row;
  row.work = FleetWork{.over = over, .used = used, .size = 4, .seasoned = true};
  return row;
}

// A fleet whose share of work above the limits falls with the price, as on real traces, times a level that depends
// on the day, times noise. Returns the share that the fleet delivers from `from` on, in multiples of the target.
double Delivered(double (*level)(int day), double (*noise)(Rng&), int from, uint64_t seed,
                 size_t jobs = 100) {
  WorkFunctionFleet fleet(Resource::kCpu, AtOneInAThousand());
  Rng rng(seed);
  double over = 0, used = 0;
  for (int day = 0; day < 400; ++day) {
    const double work = 1000 * std::exp(0.3 * rng.Normal());
    const double share = 0.001 * level(day) * std::pow(fleet.price() / 1430, -0.565) * noise(rng);
    fleet.CloseDay(FleetRows(jobs, DayOfWork(share * work, work)));
    if (day < from) continue;
    over += share * work;
    used += work;
  }
  return over / used / 0.001;
}

double Calm(Rng& rng) { return std::exp(0.5 * rng.Normal() - 0.125); }
double Noisy(Rng& rng) { return std::exp(1.2 * rng.Normal() - 0.72); }
double Spikes(Rng& rng) { return rng.Uniform(0, 1) < 0.1 ? 10 : 0; }

TEST(WorkFunctionPrice, TheDeliveredShareConvergesUnderDriftAndNoise) {
  struct Case {
    double (*level)(int day);
    double (*noise)(Rng&);
    double tolerance;
  };
  for (const Case& c : {Case{[](int) { return 0.3; }, Calm, 0.1},
                        {[](int) { return 1.0; }, Noisy, 0.2},
                        {[](int day) { return day < 150 ? 0.5 : 2.0; }, Calm, 0.2},
                        {[](int day) { return std::exp(std::sin(day / 30.0)); }, Calm, 0.1},
                        {[](int day) { return std::exp(std::sin(day / 30.0)); }, Noisy, 0.2},
                        {[](int) { return 1.0; }, Spikes, 0.2}}) {
    double mean = 0;
    constexpr int kSeeds = 10;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) mean += Delivered(c.level, c.noise, 0, seed) / kSeeds;
    EXPECT_NEAR(mean, 1, c.tolerance) << c.level(10) << " " << c.tolerance;
  }
}

// The share that a fixed price would deliver is three times the target. Fewer jobs move the price more slowly,
// because one job's days say little about the next ones.
TEST(WorkFunctionPrice, SmallFleetsConvergeSlowly) {
  double before = 3;
  for (const size_t jobs : {1, 3, 20}) {
    double mean = 0;
    constexpr int kSeeds = 10;
    for (uint64_t seed = 0; seed < kSeeds; ++seed)
      mean += Delivered([](int) { return 3.0; }, Calm, 200, seed, jobs) / kSeeds;
    EXPECT_GT(mean, 0.8) << jobs;
    EXPECT_LT(mean, before) << jobs;
    before = mean;
  }
  EXPECT_LT(before, 1.2) << "20 jobs keep the target within a fifth";
}

// Whatever the days are, the mean miss vanishes while the price is within its bounds.
RC_GTEST_PROP(WorkFunctionPriceProperties, TheMeanMissVanishes, ()) {
  WorkFunctionFleet fleet(Resource::kCpu, AtOneInAThousand());
  constexpr int kDays = 300;
  double misses = 0;
  bool bounded = false;
  for (int day = 0; day < kDays; ++day) {
    // An adversary delivers anything up to a bound, but no work above the highest price and some at the lowest.
    const double share = 0.001 * *rc::gen::inRange(0, 30) / 10;
    const double at = fleet.price() >= 15'000 ? 0 : fleet.price() <= 13 ? 0.003 : share;
    fleet.CloseDay(FleetRows(100, DayOfWork(at * 1000, 1000)));
    misses += at / 0.001 - 1;
    bounded = bounded || fleet.price() >= 20'000 || fleet.price() <= 10;
  }
  if (!bounded) RC_ASSERT(std::abs(misses / kDays) <= 0.15);
  RC_ASSERT(fleet.price() >= 10 && fleet.price() <= 20'000);
}

}  // namespace
}  // namespace taut::brain
