// Tests of the changes that a job's policy makes to the settings of its recommenders.
#include "brain/rollout/job_policy.h"

#include "brain/rollout/rules.h"
#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

// The HPA's stabilisation of 600 s covers two decisions.
TEST(JobPolicy, ALiveJobDecidesItsReplicasOnceAWindow) {
  const ReplicaSettings settings = LiveReplicaSettings();
  EXPECT_EQ(settings.step_s, 300);
  EXPECT_EQ(settings.hpa.down.stabilization_s, 600);
}

TEST(JobPolicy, TheSameRecommenderNeedsTheSameOfEachSettingOfItsResource) {
  const JobPolicy one;
  // Returns the resources whose recommender a changed setting replaces.
  const auto changed = [&one](auto set) {
    JobPolicy other;
    set(other);
    std::string out;
    for (const Resource r : kResources) {
      if (!SameRecommender(one, other, r)) out += StrCat(Name(r), " ");
    }
    return out;
  };
  EXPECT_EQ(changed([](JobPolicy& p) { p.min_change = 0.5; }), "") << "of the gate";
  EXPECT_EQ(changed([](JobPolicy& p) { p.recommender = Policy::kMovingWindow; }), "cpu memory ");
  EXPECT_EQ(changed([](JobPolicy& p) { p.recommender = Policy::kAnalogs; }), "cpu ") << "of combined";
  EXPECT_EQ(changed([](JobPolicy& p) { p.cpu_recommender = Policy::kPeak; }), "cpu ");
  EXPECT_EQ(changed([](JobPolicy& p) { p.memory_recommender = Policy::kPeak; }), "memory ");
  EXPECT_EQ(changed([](JobPolicy& p) { p.external = true; }), "cpu memory ");
  EXPECT_EQ(changed([](JobPolicy& p) { p.job_class = JobClass::kBatch; }), "cpu ");
  EXPECT_EQ(changed([](JobPolicy& p) { p.oom_tolerance = OomTolerance::kMinimal; }), "memory ");
  EXPECT_EQ(changed([](JobPolicy& p) { p.memory_signal = MemorySignal::kProbe; }), "memory ");
  EXPECT_EQ(changed([](JobPolicy& p) { p.replica_policy = "hpa"; }), "cpu memory ");
}

TEST(JobPolicy, RecommendersGetWhatThePolicySaysOfTheJob) {
  JobPolicy policy;
  policy.job_class = JobClass::kBatch;
  policy.oom_tolerance = OomTolerance::kMinimal;
  policy.external = true;
  policy.memory_signal = MemorySignal::kProbe;
  policy.replica_policy = "hpa";
  policy.throttled = 0.02;
  policy.bounds_by[kCpuIndex].upper = 4;
  policy.bounds_by[kMemoryIndex].upper = 8 * kGiB;
  ASSERT_TRUE(SetJobSetting("cpu.allowed", "0.5 .. 2", policy).ok()) << "cpu.allowed";
  const VerticalSettings s = SettingsFor(policy, VerticalSettings());
  EXPECT_EQ(s.moving_window.job_class, JobClass::kBatch);
  EXPECT_EQ(s.moving_window.oom_tolerance, OomTolerance::kMinimal);
  EXPECT_EQ(s.bounds_by[kCpuIndex].upper, 2);
  EXPECT_EQ(s.bounds_by[kMemoryIndex].upper, 8 * kGiB);
  EXPECT_TRUE(s.external);
  EXPECT_EQ(s.memory_signal, MemorySignal::kProbe);
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
  EXPECT_THAT(std::string(CheckOrder("risk", policy).message()),
              HasSubstr("expected analogs, boosted or combined"));
  EXPECT_FALSE(CheckOrder("throttled", policy).ok());
  EXPECT_TRUE(CheckOrder("mode", policy).ok());
  policy.memory_recommender = Policy::kAnalogs;
  EXPECT_TRUE(CheckOrder("risk", policy).ok());
  EXPECT_THAT(std::string(CheckOrder("throttled", policy).message()),
              HasSubstr("the recommender moving_window+analogs takes no such order"));
  policy.memory_recommender = Policy::kWorkFunction;
  EXPECT_FALSE(CheckOrder("throttled", policy).ok()) << "it is of CPU work";
  policy.cpu_recommender = Policy::kWorkFunction;
  EXPECT_TRUE(CheckOrder("throttled", policy).ok());
}

}  // namespace
}  // namespace taut::brain
