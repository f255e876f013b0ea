// Tests the forecast policy's counts against their definition (docs/algorithms/replicas.md): the count with the
// least tasks + price * chance of overload. Tasks start if their gain exceeds the price of their start, and stop
// after the time that their earlier idle times justify.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <ostream>
#include <string>

#include "brain/replicas/forecast.h"
#include "brain/replicas/reason_fixture.h"
#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

struct Case {
  std::string name;
  double load = 12;  // busy tasks at night; at noon the load is a multiple of this number
  int max = 1000;
  double change_price = 8;
  double order = 0.001;
  double startup_s = 1800;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// The definition of the count, computed from the policy's loads and the price that the policy reports.
class Definition {
 public:
  Definition(const Case& c, const ReplicaSettings& s)
      : settings_(s),
        model_(static_cast<int>(kDaySeconds / s.step_s), static_cast<int>(c.startup_s / s.step_s)) {}

  void Observe(int64_t step, double tasks) {
    highest_ = std::max(tasks, highest_ * std::exp2(-settings_.step_s / (14.0 * kDaySeconds)));
    ++steps_;
    const double share = std::clamp(settings_.step_s / kDaySeconds, 1.0 / static_cast<double>(steps_), 1.0);
    mean_ += (tasks - mean_) * share;
    model_.Observe(step, std::max(tasks, 0.02 * mean_));
  }
  double Risk(bool far, int count, double price) const {
    return price * model_.At(far).ChanceAbove(settings_.max_utilization * count);
  }
  double Cost(bool far, int count, double price) const { return count + Risk(far, count, price); }
  int Best(bool far, double price) const {
    const int most = settings_.bounds.Clamp(std::ceil(1.25 * highest_ / settings_.max_utilization));
    if (Risk(far, most, 1) >= 0.5) return most;
    int best = 1;
    for (int n = 2; n <= most; ++n) best = Cost(far, n, price) < Cost(far, best, price) ? n : best;
    return best;
  }
  // Returns the count by the definition. Must be called exactly once per step.
  int Decided(int64_t step, int current, double price, double start_price) {
    wanted = settings_.bounds.Clamp(std::max(std::min(Best(false, price), current), Best(true, price)));
    idle_runs_.Observe(step, wanted, mean_ / settings_.max_utilization);
    if (wanted <= current) {
      idle += wanted < current ? 1 : 0;
      return idle_runs_.Keep(current, start_price);
    }
    ++starts;
    const double least = wanted <= 1.3 * current ? 0.2 : 0.03;
    const double gain = Cost(true, current, price) - Cost(true, wanted, price);
    return gain < least * start_price * (wanted - current) ? current : wanted;
  }

  int wanted = 0, starts = 0, idle = 0;

 private:
  ReplicaSettings settings_;
  LoadModel model_;
  IdleRuns idle_runs_;
  double highest_ = 0, mean_ = 0;
  int64_t steps_ = 0;
};

class ForecastDefinition : public ::testing::TestWithParam<Case> {};

TEST_P(ForecastDefinition, EachCountIsTheOneOfLeastCost) {
  const Case& c = GetParam();
  ReplicaSettings s;
  s.step_s = 300;
  s.startup_s = c.startup_s;
  s.bounds.max = c.max;
  s.forecast.change_price = c.change_price;
  s.forecast.overloaded = c.order;
  ForecastPolicy policy(s);
  Definition definition(c, s);
  Rng rng(29);
  constexpr int kStepsADay = 288;
  int count = 20;
  double spike = 1;
  for (int step = 0; step < 8 * kStepsADay && !HasFailure(); ++step) {
    SCOPED_TRACE(step);
    const double noon = std::max(0.0, std::sin(2 * std::numbers::pi * (step % kStepsADay) / kStepsADay));
    if (rng.Below(30) == 0) spike = rng.Below(4) == 0 ? rng.Uniform(1, 2) : 1;
    const double tasks = c.load * (1 + 2 * noon * noon * noon) * spike * std::exp(0.05 * rng.Normal());
    if (rng.Below(60) == 0)
      count = std::min(c.max, std::max(1, count + static_cast<int>(rng.Below(21)) - 10));
    const double start_price =
        FactOf(policy, "price of a start").value_or(5 * c.change_price) / 5;  // in steps of five minutes
    const int decided =
        policy.Decide({Timestamp::FromSeconds(int64_t{300} * step), 2 * tasks, 2, count, 0, nullptr});
    definition.Observe(step, tasks);
    if (step + 1 >= kStepsADay) {
      const double price = *FactOf(policy, "price of an overloaded minute") / 5;  // price per five minutes
      EXPECT_EQ(decided, s.bounds.Clamp(definition.Decided(step, count, price, start_price)));
      EXPECT_EQ(FactOf(policy, "count with the least cost"), definition.wanted);
    }
    count = decided;
  }
  EXPECT_GT(definition.starts, 20);
  EXPECT_GT(definition.idle, 20);
}

INSTANTIATE_TEST_SUITE_P(Jobs, ForecastDefinition,
                         ::testing::Values(Case{.name = "as by default"}, Case{.name = "small", .load = 0.7},
                                           Case{.name = "at its bound", .max = 30},
                                           Case{.name = "dear changes", .change_price = 300},
                                           Case{.name = "little may be overloaded", .order = 0.00002},
                                           Case{.name = "ready at once", .startup_s = 300}));

}  // namespace
}  // namespace taut::brain
