// Tests of replays small enough to compute by hand, and of policies that use the forecast.
#include "tools/sim/replica_replay.h"

#include <cmath>

#include "brain/replicas/policies.h"
#include "brain/rollout/job_policy.h"
#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

// A policy that decides the given numbers of tasks, one per step.
class Scripted final : public brain::ReplicaPolicy {
 public:
  explicit Scripted(std::vector<int> counts) : counts_(std::move(counts)) {}
  int Decide(const brain::LoadSample& sample) override {
    seen.push_back(sample);
    return counts_[seen.size() - 1];
  }
  void Explain(Reason&) const override {}
  std::unique_ptr<brain::ReplicaPolicy> Clone() const override { return std::make_unique<Scripted>(*this); }
  void Save(ByteWriter&) const override {}
  absl::Status Load(ByteReader&) override { return absl::UnimplementedError("a script has no state"); }
  size_t state_bytes() const override { return sizeof(*this); }

  std::vector<brain::LoadSample> seen;

 private:
  std::vector<int> counts_;
};

ReplicaReplayOptions ByHand() {
  ReplicaReplayOptions o;
  o.warmup_s = 0;
  o.settings.max_utilization = 0.5;
  return o;
}

// tautd's gate delays a decrease by the period and for maintenance. It never delays an increase.
TEST(ReplicaReplay, ThroughTheGateALowerNumberWaits) {
  const LoadSeries series{"a", 0, 60, std::vector<float>(8, 1)};
  ReplicaReplayOptions options = ByHand();
  options.managed.emplace();
  options.managed->mode = Mode::kAuto;
  options.managed->replica_policy = "hpa";
  options.managed->replica_change_period_s = 180;
  Scripted policy({4, 3, 5, 2, 2, 2, 2, 2});
  std::vector<int> decided;
  std::vector<std::string> waits;
  const auto score = ReplayReplicas(series, options, policy, [&](const ReplicaStep& s) {
    decided.push_back(s.decided);
    waits.emplace_back(s.waits);
  });
  ASSERT_TRUE(score.ok());
  EXPECT_THAT(decided, testing::ElementsAre(4, 4, 5, 5, 5, 2, 2, 2)) << "180 s after the change at 120 s";
  EXPECT_THAT(waits[1], testing::HasSubstr("replicas.change_period"));
  EXPECT_EQ(waits[2], "");
  EXPECT_EQ(waits[5], "");
  EXPECT_EQ(score->changes, 3U);
  options.managed->replica_change_period_s = 0;
  options.managed->maintenance = {{.days = 0x7F, .start_minute = 6, .end_minute = 60}};
  Scripted again({4, 3, 5, 2, 2, 2, 2, 2});
  decided.clear();
  ASSERT_TRUE(ReplayReplicas(series, options, again, [&](const ReplicaStep& s) {
                decided.push_back(s.decided);
              }).ok());
  EXPECT_THAT(decided, testing::ElementsAre(4, 4, 5, 5, 5, 5, 2, 2));
}

// Without a period, settling and maintenance, the gate changes nothing. Load changes of other jobs affect only
// young jobs.
TEST(ReplicaReplay, TheGateAloneChangesNothingAndOtherJobsHelpYoungOnes) {
  Rng rng(3);
  std::vector<LoadSeries> loads;
  for (int j = 0; j < 12; ++j) {
    LoadSeries& series = loads.emplace_back(LoadSeries{"j", j < 11 ? 0 : 2 * kDaySeconds, 300, {}});
    for (int i = 0; i < 3 * 288; ++i)
      series.load.push_back(static_cast<float>(8 + 3 * std::sin(i / 288.0 * 6.283) + rng.Uniform(0, 1)));
  }
  ReplicaReplayOptions options = ByHand();
  options.decide_every_s = 300;
  options.settings.max_utilization = 0.8;
  const auto counts = [&](std::string_view policy, const ReplicaReplayOptions& o) {
    std::vector<int> out;
    EXPECT_TRUE(
        ReplayByName(loads.back(), o, policy, [&](const ReplicaStep& s) { out.push_back(s.decided); }).ok());
    return out;
  };
  ReplicaReplayOptions managed = options;
  managed.managed.emplace();
  managed.managed->mode = Mode::kAuto;
  managed.managed->replica_settle_s = 0;
  for (const brain::ReplicaPolicyInfo& p : brain::ReplicaPolicies())
    EXPECT_EQ(counts(p.name, options), counts(p.name, managed)) << p.name;
  const FleetMoves fleet(loads, options.decide_every_s, options.settings.startup_s);
  ASSERT_TRUE(fleet.At(2 * kDaySeconds)->is_known());
  managed.fleet = &fleet;
  EXPECT_EQ(counts("hpa", options), counts("hpa", managed));
  EXPECT_EQ(counts("clairvoyant", options), counts("clairvoyant", managed));
  const std::vector<int> alone = counts("forecast", options), among = counts("forecast", managed);
  int fewer = 0;
  for (size_t i = 0; i < 288; ++i) fewer += among[i] < alone[i] ? 1 : 0;
  EXPECT_GT(fewer, 200) << "less spare than at half the utilisation";
}

TEST(ReplicaReplay, CountsAsByHand) {
  const LoadSeries series{"a", 0, 60, {1, 1, 2, 4, 1, LoadSeries::kAbsentLoad}};
  const ReplicaReplayOptions options = ByHand();
  // The first load needs 2 tasks. At 60 s, 2 more tasks are ordered, which are ready at 180 s. At 240 s, a
  // decrease to 3 tasks is ordered.
  Scripted policy({2, 4, 4, 4, 3, 3});
  std::vector<std::pair<int, int>> tasks;
  const auto score = ReplayReplicas(series, options, policy,
                                    [&](const ReplicaStep& s) { tasks.emplace_back(s.ready, s.starting); });
  ASSERT_TRUE(score.ok());
  EXPECT_THAT(tasks, testing::ElementsAre(std::pair(2, 0), std::pair(2, 0), std::pair(2, 2), std::pair(4, 0),
                                          std::pair(4, 0), std::pair(3, 0)));
  EXPECT_EQ(score->steps, 6);
  EXPECT_EQ(score->absent_steps, 1);
  EXPECT_EQ(score->task_s, (2 + 2 + 4 + 4 + 4 + 3) * 60);
  // The load needs 2, 2, 4, 8 and 2 tasks. The need stays at 2 while the load is unknown.
  EXPECT_EQ(score->clairvoyant_task_s, (2 + 2 + 4 + 8 + 2 + 2) * 60);
  EXPECT_EQ(score->overloaded_steps, 2);  // load 2 with 2 ready tasks, load 4 with 4
  EXPECT_EQ(score->lost, 0);
  EXPECT_EQ(score->starts, 2);
  EXPECT_EQ(score->changes, 2);
  EXPECT_EQ(score->days, 1);
  EXPECT_EQ(score->days_without_change, 0);
  EXPECT_DOUBLE_EQ(score->under, 2.0 / 4 + 4.0 / 8);
  EXPECT_DOUBLE_EQ(score->over, 2.0 / 2);
  EXPECT_EQ(score->under_steps, 2);
  EXPECT_EQ(score->over_steps, 1);
  // The need changes at 120, 180 and 240 s, and the number of ready tasks at 180 s. The first step has no previous
  // step.
  EXPECT_EQ(score->unstable_steps, 2);
  EXPECT_FALSE(policy.seen[5].load.has_value());
  EXPECT_EQ(policy.seen[2].starting, 2);
}

TEST(ReplicaReplay, ShedsOrQueues) {
  const LoadSeries series{"a", 0, 60, {1, 5, 0, 0, 0}};
  ReplicaReplayOptions options = ByHand();
  Scripted shedding({2, 2, 2, 2, 2});
  auto score = ReplayReplicas(series, options, shedding);
  ASSERT_TRUE(score.ok());
  EXPECT_EQ(score->lost, 3);  // a load of 5 exceeds a capacity of 2
  EXPECT_EQ(score->overloaded_steps, 1);
  options.model = OverloadModel::kQueue;
  Scripted queueing({2, 2, 2, 2, 2});
  score = ReplayReplicas(series, options, queueing);
  ASSERT_TRUE(score.ok());
  EXPECT_EQ(score->lost, 0);
  EXPECT_DOUBLE_EQ(score->max_delay_s, 90);  // 3 units of load wait at a capacity of 2 per minute
  EXPECT_DOUBLE_EQ(score->delay_s, 90 + 30);
  EXPECT_EQ(score->overloaded_steps, 2);
  EXPECT_EQ(*queueing.seen[2].load, 3);  // the load includes waiting load
}

TEST(ReplicaReplay, TheWarmUpIsNotMeasured) {
  const LoadSeries series{"a", 0, 60, {1, 9, 1, 1}};
  ReplicaReplayOptions options = ByHand();
  options.warmup_s = 120;
  Scripted policy({2, 3, 3, 2});
  auto score = ReplayReplicas(series, options, policy);
  ASSERT_TRUE(score.ok());
  EXPECT_EQ(score->steps, 2);
  EXPECT_EQ(score->overloaded_steps, 0);
  EXPECT_EQ(score->starts, 0);
  options.warmup_s = 240;
  Scripted again({2, 3, 3, 2});
  EXPECT_EQ(ReplayReplicas(series, options, again).status().code(), absl::StatusCode::kInvalidArgument);
}

// Returns days with a steep rise in the morning, a peak in the evening, and noise, from which a season can be
// learned.
LoadSeries Days(int days, uint64_t seed) {
  LoadSeries out{"made", 0, 60, {}};
  Rng rng(seed);
  for (int m = 0; m < days * 1440; ++m) {
    const int minute = m % 1440;
    const double day = minute >= 480 && minute < 1200 ? 12 : 5;
    const double peak = minute >= 540 && minute < 560 ? 10 : 0;
    out.load.push_back(static_cast<float>((day + peak) * std::exp(0.05 * rng.Normal())));
  }
  return out;
}

TEST(ReplicaReplay, TheClairvoyantIsNeverOverloaded) {
  const LoadSeries series = Days(9, 1);
  const auto score = ReplayByName(series, ReplicaReplayOptions(), "clairvoyant");
  ASSERT_TRUE(score.ok());
  EXPECT_EQ(score->overloaded_steps, 0);
  EXPECT_LT(score->of_clairvoyant(), 1.2);
}

TEST(ReplicaReplay, TheForecastDeliversTheOrderedShare) {
  const LoadSeries series = Days(21, 2);
  for (const double ordered : {0.01, 0.03}) {
    ReplicaReplayOptions options;
    options.settings.forecast.overloaded = ordered;
    const auto score = ReplayByName(series, options, "forecast");
    ASSERT_TRUE(score.ok());
    EXPECT_NEAR(score->overloaded_share(), ordered, ordered / 3);
  }
}

TEST(ReplicaReplay, TheForecastNeedsFewerTasksThanHpaAtItsShareOfOverload) {
  const LoadSeries series = Days(14, 3);
  ReplicaReplayOptions options;
  options.settings.hpa.target = 0.6;
  const auto hpa = ReplayByName(series, options, "hpa");
  ASSERT_TRUE(hpa.ok());
  options.settings.forecast.overloaded = 0.7 * hpa->overloaded_share();
  const auto forecast = ReplayByName(series, options, "forecast");
  ASSERT_TRUE(forecast.ok());
  EXPECT_LE(forecast->overloaded_share(), hpa->overloaded_share());
  EXPECT_LT(forecast->task_s, 0.9 * hpa->task_s);
}

TEST(ReplicaReplay, TheSameSeedGivesTheSameScore) {
  const LoadSeries series = Days(9, 4);
  ReplicaReplayOptions options;
  options.startup_sigma = 0.5;
  const auto once = ReplayByName(series, options, "forecast");
  const auto again = ReplayByName(series, options, "forecast");
  options.seed = 2;
  const auto other = ReplayByName(series, options, "forecast");
  ASSERT_TRUE(once.ok() && again.ok() && other.ok());
  EXPECT_EQ(once->task_s, again->task_s);
  EXPECT_EQ(once->overloaded_steps, again->overloaded_steps);
  EXPECT_NE(once->task_s, other->task_s);
}

}  // namespace
}  // namespace taut::tools
