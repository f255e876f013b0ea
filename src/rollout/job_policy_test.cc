// What a job's policy makes of the settings of its recommenders.
#include "rollout/job_policy.h"

#include "base/byte_units.h"
#include "base/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rollout/rules.h"

namespace taut {
namespace {

using ::testing::HasSubstr;

// HPA's stabilisation is of decisions: two windows of them.
TEST(JobPolicy, ALiveJobDecidesItsReplicasOnceAWindow) {
  const ReplicaSettings settings = LiveReplicaSettings();
  EXPECT_EQ(settings.step_s, 300);
  EXPECT_EQ(settings.hpa.down.stabilization_s, 600);
}

TEST(JobPolicy, TheSameRecommendersNeedTheSameOfEachSetting) {
  const JobPolicy one;
  EXPECT_TRUE(SameRecommenders(one, JobPolicy()));
  JobPolicy other;
  other.min_change = 0.5;  // of the gate
  EXPECT_TRUE(SameRecommenders(one, other));
  const auto differs = [&one](auto set) {
    JobPolicy changed;
    set(changed);
    return !SameRecommenders(one, changed);
  };
  EXPECT_TRUE(differs([](JobPolicy& p) { p.recommender = Policy::kMovingWindow; }));
  EXPECT_TRUE(differs([](JobPolicy& p) { p.external = true; }));
  EXPECT_TRUE(differs([](JobPolicy& p) { p.job_class = JobClass::kBatch; }));
  EXPECT_TRUE(differs([](JobPolicy& p) { p.oom_tolerance = OomTolerance::kMinimal; }));
  EXPECT_TRUE(differs([](JobPolicy& p) { p.replica_policy = "hpa"; }));
}

TEST(JobPolicy, RecommendersGetWhatThePolicySaysOfTheJob) {
  JobPolicy policy;
  policy.job_class = JobClass::kBatch;
  policy.oom_tolerance = OomTolerance::kMinimal;
  policy.external = true;
  policy.replica_policy = "hpa";
  policy.throttled = 0.02;
  policy.cpu_bounds.upper = 4;
  policy.memory_bounds.upper = 8 * kGiB;
  ASSERT_TRUE(SetJobSetting("cpu.allowed", "0.5 .. 2", policy).ok()) << "cpu.allowed";
  const VerticalSettings s = SettingsFor(policy, VerticalSettings());
  EXPECT_EQ(s.moving_window.job_class, JobClass::kBatch);
  EXPECT_EQ(s.moving_window.oom_tolerance, OomTolerance::kMinimal);
  EXPECT_EQ(s.cpu_bounds.upper, 2);
  EXPECT_EQ(s.memory_bounds.upper, 8 * kGiB);
  EXPECT_TRUE(s.external);
  EXPECT_EQ(s.scaled_by, VerticalSettings::ScaledBy::kCpu);
  EXPECT_TRUE(s.vpa.oom_floor);
  EXPECT_EQ(s.analogs.memory_job_order, 0.003);
  EXPECT_EQ(s.analogs.job_order, VerticalSettings().analogs.job_order) << "the fleet's";
  EXPECT_EQ(s.work_function.job_order, 0.02);
  policy.risk = 0.05;
  EXPECT_EQ(SettingsFor(policy, VerticalSettings()).analogs.job_order, 0.05);
}

TEST(JobPolicy, AnOrderNeedsARecommenderThatKeepsIt) {
  JobPolicy policy;
  policy.recommender = Policy::kCombined;
  EXPECT_TRUE(CheckOrder("risk", policy).ok());
  EXPECT_TRUE(CheckOrder("throttled", policy).ok());
  EXPECT_TRUE(CheckOrder("mode", policy).ok());
  policy.recommender = Policy::kAnalogs;
  EXPECT_TRUE(CheckOrder("risk", policy).ok());
  EXPECT_THAT(std::string(CheckOrder("throttled", policy).message()), HasSubstr("takes no such order"));
  policy.recommender = Policy::kMovingWindow;
  EXPECT_THAT(std::string(CheckOrder("risk", policy).message()), HasSubstr("expected analogs or combined"));
  EXPECT_FALSE(CheckOrder("throttled", policy).ok());
  EXPECT_TRUE(CheckOrder("mode", policy).ok());
}

}  // namespace
}  // namespace taut
