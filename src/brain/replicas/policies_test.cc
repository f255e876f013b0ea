// Tests of properties that all replica policies share.
#include "brain/replicas/policies.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/random.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

// Returns a load in tasks: a daily wave with noise.
double Wave(int minute, Rng& rng) { return 12 + 8 * std::sin(minute * 2 * M_PI / 1440) + rng.Normal(); }

RC_GTEST_PROP(ReplicaPolicies, StayWithinTheBoundsAndHoldWithoutALoad, ()) {
  const ReplicaPolicyInfo& info = ReplicaPolicies()[*rc::gen::inRange<size_t>(0, ReplicaPolicies().size())];
  ReplicaSettings s;
  s.bounds.min = *rc::gen::inRange(0, 5);
  s.bounds.max = s.bounds.min + *rc::gen::inRange(1, 30);
  s.forecast.min_history_s = 3600;
  s.function.silent_s = 1e9;  // the rise after a silence is tested in function_policy_test.cc
  s.function.target = *rc::gen::element<std::string>("load / capacity", "p95_over(600) / ready",
                                                     "1 / (load - 1)", "hour - count + max_over(5)");
  const auto policy = info.make(s);
  int count = std::max(s.bounds.min, 1);
  int64_t at_s = *rc::gen::inRange(-100000, 100000);
  for (int i = 0; i < 300; ++i) {
    at_s += *rc::gen::element(1, 60, 60, 60, 61, 3600);
    std::optional<double> load;
    if (*rc::gen::inRange(0, 4) > 0) load = *rc::gen::element(0.0, 1.0, 7.5, 12.0, 1e-3, 1e9);
    const int ready = *rc::gen::inRange(0, count + 1);
    const int decided = policy->Decide({Timestamp::FromSeconds(at_s), load, 1.0, ready, count - ready});
    RC_ASSERT(decided >= s.bounds.min);
    RC_ASSERT(decided <= s.bounds.max);
    if (!load.has_value() && info.name != "static") RC_ASSERT(decided == count);
    Reason reason;
    policy->Explain(reason);
    RC_ASSERT(!reason.sentence.empty());
    RC_ASSERT(reason.recommender == info.name);
    count = decided;
  }
}

TEST(ReplicaPolicies, ALoadOfMoreTasksThanThereAreIsNone) {
  EXPECT_EQ(UsableLoad(5.0, 2), 5);
  EXPECT_EQ(UsableLoad(0.0, 1), 0);
  EXPECT_EQ(UsableLoad(2e9, 2), 2e9);
  EXPECT_EQ(UsableLoad(2e9, 0), 2e9) << "the capacity is not known yet";
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto& [load, capacity] : std::vector<std::pair<double, double>>{
           {inf, 1}, {inf, 0}, {-1, 1}, {std::nan(""), 1}, {2.1e9, 2}, {7, 1e-306}})
    EXPECT_FALSE(UsableLoad(load, capacity).has_value()) << load << " / " << capacity;
  EXPECT_FALSE(UsableLoad(std::nullopt, 1).has_value());
}

// An invalid load must not crash a policy or violate a bound.
TEST(ReplicaPolicies, AnEndlessLoadStaysWithinTheBounds) {
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    ReplicaSettings s;
    s.bounds = {.min = 2, .max = 40};
    s.forecast.min_history_s = 3600;
    s.function.target = "load / capacity";
    const auto policy = info.make(s);
    int count = 7;
    for (int m = 0; m < 600; ++m) {
      double load = 5;
      if (m % 100 == 90) load = 1e39;
      if (m % 100 == 95) load = std::numeric_limits<double>::infinity();
      count = policy->Decide({Timestamp::FromSeconds(m * 60), load, 1, count, 0});
      ASSERT_TRUE(count >= 2 && count <= 40) << info.name << " " << count;
    }
  }
}

// A program that runs too few or too many tasks does not change the price of an overloaded minute.
TEST(ReplicaPolicies, TheForecastLearnsOnlyFromCountsOfItsOwn) {
  const auto price_after = [](int others) {
    ReplicaSettings s;
    s.forecast.min_history_s = 3600;
    const auto policy = (*FindReplicaPolicy("forecast"))->make(s);
    Rng rng(5);
    int count = 20;
    for (int m = 0; m < 2 * 1440; ++m) {
      const int running = others > 0 ? others : count;
      count = policy->Decide({Timestamp::FromSeconds(m * 60), Wave(m, rng), 1, running, 0});
    }
    Reason reason;
    policy->Explain(reason);
    for (const auto& fact : reason.facts) {
      if (fact.name == "price of an overloaded minute") return std::get<double>(fact.value);
    }
    return 0.0;
  };
  EXPECT_GT(price_after(3), 0);
  EXPECT_EQ(price_after(3), price_after(90));
  EXPECT_NE(price_after(0), price_after(90)) << "of its own it does";
}

// The load rises at 08:00 on five of seven days.
TEST(ReplicaPolicies, TheForecastKnowsTheDayOfTheWeek) {
  ReplicaSettings s;
  const auto policy = (*FindReplicaPolicy("forecast"))->make(s);
  Rng rng(9);
  int count = 20;
  std::vector<double> expected;  // forecasts at 07:58 on the days of the last week
  for (int m = 0; m < 6 * 7 * 1440; ++m) {
    const int minute = m % 1440, day = m / 1440;
    const bool works = day % 7 < 5 && minute >= 8 * 60 && minute < 18 * 60;
    const double load = (works ? 15 : 5) + 0.2 * rng.Normal();
    count = policy->Decide({Timestamp::FromSeconds(m * 60), load, 1, count, 0});
    if (day < 5 * 7 || minute != 8 * 60 - 2) continue;
    const LoadBand band = *policy->Forecast();
    expected.push_back((band.low + band.high) / 2);
  }
  ASSERT_EQ(expected.size(), 7U);
  for (size_t d = 0; d < 5; ++d) EXPECT_GT(expected[d], 10) << d;
  for (size_t d = 5; d < 7; ++d) EXPECT_LT(expected[d], 10) << d;
}

// With unpredictable bursts no target share, however small, leads to more tasks than the highest burst could use.
TEST(ReplicaPolicies, TheForecastRunsNoMoreThanHasBeenOfUse) {
  ReplicaSettings s;
  s.forecast.overloaded = 0.0002;
  s.forecast.min_history_s = 3600;
  const auto policy = (*FindReplicaPolicy("forecast"))->make(s);
  Rng rng(7);
  int count = 10, most = 0;
  double highest = 0;
  for (int m = 0; m < 4 * 1440; ++m) {
    const double load = rng.Below(40) == 0 ? rng.Uniform(20, 60) : 5;
    highest = std::max(highest, load);
    count = policy->Decide({Timestamp::FromSeconds(m * 60), load, 1, count, 0});
    if (m > 1440) most = std::max(most, count);
    ASSERT_TRUE(m < 1440 || count <= std::ceil(1.25 * highest / s.max_utilization)) << m << " " << count;
  }
  EXPECT_GT(most, 60) << "but for the bursts it does run more";
}

TEST(ReplicaPolicies, ACloneGoesOnAsTheOriginal) {
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    ReplicaSettings s;
    auto policy = info.make(s);
    Rng rng(3);
    int count = 15;
    for (int m = 0; m < 3000; ++m)
      count = policy->Decide({Timestamp::FromSeconds(m * 60), Wave(m, rng), 1, count, 0});
    const auto clone = policy->Clone();
    std::vector<int> original, cloned;
    const int from = count;
    Rng again = rng.Fork(1);
    Rng same = rng.Fork(1);
    for (int m = 3000; m < 4500; ++m)
      original.push_back(count =
                             policy->Decide({Timestamp::FromSeconds(m * 60), Wave(m, again), 1, count, 0}));
    policy.reset();
    count = from;
    for (int m = 3000; m < 4500; ++m)
      cloned.push_back(count = clone->Decide({Timestamp::FromSeconds(m * 60), Wave(m, same), 1, count, 0}));
    EXPECT_EQ(original, cloned) << info.name;
    EXPECT_LT(clone->state_bytes(), size_t{64} * 1024) << info.name;
  }
}

// Runs a job whose load is sometimes absent, with restarts before the steps in `restarts`. Returns the counts.
std::vector<int> Run(const ReplicaPolicyInfo& info, const ReplicaSettings& s,
                     const std::vector<int>& restarts) {
  std::unique_ptr<ReplicaPolicy> policy = info.make(s);
  Rng rng(5);
  std::vector<int> counts;
  int count = 15;
  for (int m = 0; m < 3 * 1440; ++m) {
    if (std::ranges::find(restarts, m) != restarts.end()) {
      const std::string state = SaveReplicaPolicy(info.name, *policy);
      absl::StatusOr<std::unique_ptr<ReplicaPolicy>> restored = LoadReplicaPolicy(state, s);
      EXPECT_TRUE(restored.ok()) << info.name << ": " << restored.status();
      if (!restored.ok()) return counts;
      policy = *std::move(restored);
      EXPECT_EQ(SaveReplicaPolicy(info.name, *policy), state) << info.name;
    }
    const double load = std::max(0.0, Wave(m, rng) - 5);
    const std::optional<double> seen = m % 97 == 5 ? std::nullopt : std::optional(load);
    counts.push_back(count = policy->Decide({Timestamp::FromSeconds(m * 60 - 3000), seen, 1, count, 0}));
  }
  Reason reason;
  policy->Explain(reason);
  EXPECT_FALSE(reason.sentence.empty());
  return counts;
}

RC_GTEST_PROP(ReplicaPolicies, ARestartChangesNoDecision, ()) {
  const ReplicaPolicyInfo& info = ReplicaPolicies()[*rc::gen::inRange<size_t>(0, ReplicaPolicies().size())];
  ReplicaSettings s;
  s.bounds.min = 0;
  s.keda.activation = 2;
  s.autopilot.statistic = *rc::gen::element(LoadStatistic::kMax, LoadStatistic::kP95);
  s.autopilot.decay_half_life_s = *rc::gen::element(0.0, 3600.0);
  s.startup_s = *rc::gen::element(30, 120, 600);
  s.autopilot.defer_downscaling_s = *rc::gen::element(0.0, 7200.0);
  s.function.silent_s = *rc::gen::element(30.0, 3600.0);
  s.function.target = *rc::gen::element<std::string>(
      "max_over(60) / (0.7 * capacity)", "p95_over(300) + avg_over(7) > 12 ? 3 * load : count + 0.5",
      "load - 4", "count / (load > 1) + hour + weekday");
  s.forecast.min_history_s = *rc::gen::element(3600, 86400);
  const auto restarts = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3 * 1440));
  RC_ASSERT(Run(info, s, restarts) == Run(info, s, {}));
}

TEST(ReplicaPolicies, DamagedStatesNeverCrash) {
  Rng rng(11);
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    ReplicaSettings s;
    s.forecast.min_history_s = 3600;
    const auto policy = info.make(s);
    int count = 15;
    for (int m = 0; m < 1500; ++m)
      count = policy->Decide({Timestamp::FromSeconds(m * 60), Wave(m, rng), 1, count, 0});
    const std::string state = SaveReplicaPolicy(info.name, *policy);
    for (int i = 0; i < 300; ++i) {
      std::string damaged = state;
      for (uint64_t flips = 1 + rng.Below(4); flips > 0; --flips)
        damaged[rng.Below(damaged.size())] = static_cast<char>(rng.Below(256));
      if (rng.Below(3) == 0) damaged.resize(rng.Below(damaged.size()));
      const auto loaded = LoadReplicaPolicy(damaged, s);
      if (!loaded.ok()) continue;
      int steps = 15;
      for (int m = 1500; m < 1530; ++m) {
        steps = (*loaded)->Decide({Timestamp::FromSeconds(m * 60), Wave(m, rng), 1, steps, 0});
        ASSERT_GE(steps, s.bounds.min);
        ASSERT_LE(steps, s.bounds.max);
      }
    }
  }
}

TEST(ReplicaPolicies, AStateOfOtherSettingsIsRejected) {
  ReplicaSettings s;
  const auto state_of = [&](std::string_view name) {
    return SaveReplicaPolicy(name, *FindReplicaPolicy(name).value()->make(s));
  };
  ReplicaSettings other = s;
  other.autopilot.average_s = 60;
  other.startup_s = 1200;
  EXPECT_EQ(LoadReplicaPolicy(state_of("autopilot"), other).status(),
            absl::InvalidArgumentError("autopilot: the state has another averaging window"));
  EXPECT_EQ(LoadReplicaPolicy(state_of("forecast"), other).status(),
            absl::InvalidArgumentError("forecast: the state has another step or start-up time"));
  EXPECT_TRUE(LoadReplicaPolicy(state_of("hpa"), other).ok());
  EXPECT_EQ(LoadReplicaPolicy(state_of("function"), other).status(),
            absl::InvalidArgumentError("function: the state has another averaging window"));
  other = s;
  other.step_s = 300;
  EXPECT_EQ(LoadReplicaPolicy(state_of("function"), other).status(),
            absl::InvalidArgumentError("function: the state has another step"));
  other.function.target = "load / capacity";
  EXPECT_EQ(LoadReplicaPolicy(state_of("function"), other).status(),
            absl::InvalidArgumentError("function: the state is of another function.target"));
  EXPECT_TRUE(absl::IsNotFound(
      LoadReplicaPolicy(SaveReplicaPolicy("hpax", *FindReplicaPolicy("hpa").value()->make(s)), s).status()));
  EXPECT_TRUE(absl::IsDataLoss(LoadReplicaPolicy(state_of("hpa") + "x", s).status()));
}

TEST(ReplicaPolicies, RunTheMaximumWhereEvenThatIsTooFew) {
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    for (const double load : {20.0, 1e12, 1e300}) {
      ReplicaSettings s;
      s.bounds.max = 10;
      s.forecast.min_history_s = 3600;
      const auto policy = info.make(s);
      int count = 1;
      for (int m = 0; m < 300; ++m)
        count = policy->Decide({Timestamp::FromSeconds(m * 60), load, 1, count, 0});
      EXPECT_EQ(count, 10) << info.name << " " << load;
    }
  }
}

TEST(ReplicaPolicies, NamesAndSettingsAreChecked) {
  EXPECT_EQ(FindReplicaPolicy("hpax").status().message(),
            "unknown replica policy \"hpax\": expected static, autopilot, hpa, keda, function or forecast");
  ReplicaSettings s;
  EXPECT_TRUE(SetReplicaSetting("hpa.target", "0.6", s).ok());
  EXPECT_EQ(s.hpa.target, 0.6);
  EXPECT_TRUE(SetReplicaSetting("autopilot.statistic", "p95", s).ok());
  EXPECT_EQ(s.autopilot.statistic, LoadStatistic::kP95);
  EXPECT_EQ(SetReplicaSetting("hpa.targt", "0.6", s).message(),
            "unknown setting \"hpa.targt\"; did you mean \"hpa.target\"?");
  EXPECT_EQ(SetReplicaSetting("replicas.min", "1.5", s).message(),
            "replicas.min: \"1.5\" is not a whole number");
  for (const ReplicaSetting& setting : ReplicaSettingsTable()) {
    ReplicaSettings read;
    EXPECT_TRUE(SetReplicaSetting(setting.key, GetSetting(setting, s), read).ok()) << setting.key;
    EXPECT_EQ(GetSetting(setting, read), GetSetting(setting, s)) << setting.key;
  }
  s.bounds = {5, 4};
  EXPECT_FALSE(CheckReplicaSettings(s).ok());
}

TEST(ReplicaPolicies, StaticIsThePeakOfTheFirstDays) {
  ReplicaSettings s;
  s.fixed.peak_days = 1;
  const auto policy = FindReplicaPolicy("static").value()->make(s);
  const auto decide = [&](int64_t at_s, double load, int count) {
    return policy->Decide({Timestamp::FromSeconds(at_s), load, 1, count, 0});
  };
  EXPECT_EQ(decide(0, 4, 1), 5);
  EXPECT_EQ(decide(60, 8, 5), 10);
  EXPECT_EQ(decide(120, 1, 10), 10);
  EXPECT_EQ(decide(kDaySeconds, 80, 10), 10);
}

}  // namespace
}  // namespace taut::brain
