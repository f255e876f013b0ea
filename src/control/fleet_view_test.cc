// What lists and sums say of jobs, on views put together by hand.
#include "control/fleet_view.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

using testing::ElementsAre;

class FleetViewTest : public ::testing::Test {
 protected:
  FleetViewTest() { view_.window = WindowId{kWindow}; }

  // In observe: the limit in force is the owner's. Memory in the same figures as CPU, times 100.
  JobView& Add(std::string name, float usage, float owner, float would_be, uint32_t tasks = 1) {
    const JobId id{static_cast<uint32_t>(view_.jobs.size())};
    JobView& job = view_.jobs.emplace_back();
    job.record = std::make_shared<const JobRecord>(JobRecord{id, std::move(name), {}, 0});
    job.tasks = tasks;
    job.last_seen_s = WindowId{kWindow}.next().start_s();
    for (const Resource r : kResources) {
      const float scale = r == Resource::kCpu ? 1 : 100;
      const auto at = static_cast<size_t>(r);
      JobAmounts& a = job.amounts[at];
      a.usage = a.peak = usage * scale;
      if (owner >= 0) a.owner_limit = a.limit = owner * scale;
      if (would_be >= 0) a.would_be = would_be * scale;
      FleetAmounts& all = view_.point.amounts[at];
      all.usage += double{a.usage} * tasks;
      if (owner >= 0) all.owner_limit += double{a.owner_limit} * tasks;
    }
    return view_.jobs.back();
  }
  std::vector<std::string> Names(JobSort sort) const {
    JobsQuery query;
    query.sort = sort;
    std::vector<std::string> names;
    for (const JobId id : ListJobs(view_, query).jobs) names.push_back(view_.jobs[id.value].record->name);
    return names;
  }

  static constexpr int32_t kWindow = 1000;
  FleetView view_;
};

// In observe nothing is applied: what could be saved comes first, and what is not known last.
TEST_F(FleetViewTest, WhatCouldBeSavedSortsTheJobsInObserve) {
  Add("little", 1, 4, 3);
  Add("unknown", 1, -1, 3);
  Add("much", 1, 4, 1, 10);
  Add("tight", 4, 4, 6);
  Add("young", 1, 4, -1);
  EXPECT_EQ(JobsQuery().sort, JobSort::kSaving);
  EXPECT_THAT(Names(JobSort::kSaving), ElementsAre("much", "little", "tight", "unknown", "young"));
  EXPECT_THAT(Names(JobSort::kMemorySaving), ElementsAre("much", "little", "tight", "unknown", "young"));
  EXPECT_EQ(view_.jobs[3].of(Resource::kCpu).saving(), -2.0);
  EXPECT_FALSE(view_.jobs[1].of(Resource::kCpu).saving().has_value());
  EXPECT_FALSE(view_.jobs[4].of(Resource::kCpu).saving().has_value());
}

TEST_F(FleetViewTest, KillsComeBeforeUsageAtTheLimitBeforeALimitThatIsTooLow) {
  Add("roomy", 1, 4, 2);
  Add("low", 3, 4, 6);
  Add("stands at it", 4, 4, 5).amounts[1].at_limit = true;
  Add("killed", 1, 4, 2).ooms = 1;
  Add("killed often", 1, 4, 2).ooms = 9;
  EXPECT_THAT(Names(JobSort::kTight), ElementsAre("killed often", "killed", "stands at it", "low", "roomy"));
}

TEST_F(FleetViewTest, SortsByTheForecastChance) {
  Add("a", 1, 4, 2).amounts[1].chance = 0.01F;
  Add("b", 1, 4, 2);
  Add("c", 1, 4, 2).amounts[1].chance = 0.3F;
  EXPECT_THAT(Names(JobSort::kMemoryChance), ElementsAre("c", "a", "b"));
}

// Savings and raises are kept apart, and usage is held against the owners' limits only where there are any.
TEST_F(FleetViewTest, SumsCannotBeAbsurd) {
  Add("lower", 1, 4, 2, 3);
  Add("higher", 4, 4, 9);
  Add("no limit", 1000, -1, 2);
  JobView& gone = Add("gone", 50, 100, 1);
  gone.last_seen_s -= 300;
  gone.week[1] = {7, 2};
  view_.jobs[0].week[1] = {5, 1};
  view_.jobs[0].amounts[1].at_limit = true;
  SumUp({FleetRisk{.days_ordered = {}, .work_ordered = 0.001, .work_over = {}},
         FleetRisk{.days_ordered = 0.03, .work_ordered = {}, .work_over = {}}},
        view_);
  const FleetSums& cpu = view_.sums[0];
  EXPECT_DOUBLE_EQ(cpu.usage_limited, 3 * 1 + 4);
  EXPECT_DOUBLE_EQ(cpu.would_save, 3 * 2);
  EXPECT_DOUBLE_EQ(cpu.would_raise, 5);
  EXPECT_DOUBLE_EQ(cpu.saved, 0);
  EXPECT_DOUBLE_EQ(cpu.raised, 0);
  EXPECT_FALSE(cpu.risk.days_ordered.has_value());
  EXPECT_EQ(cpu.risk.work_ordered, 0.001);
  const FleetSums& memory = view_.sums[1];
  EXPECT_EQ(memory.job_days, 12U);
  EXPECT_EQ(memory.job_days_over, 3U);
  EXPECT_EQ(memory.jobs_at_limit, 1U);
  EXPECT_EQ(memory.risk.days_ordered, 0.03);
}

// Orders are shown of the recommenders that some job has, in the measure that they take orders in.
TEST_F(FleetViewTest, TheRiskIsInTheMeasureThatIsOrdered) {
  LiveSettings settings;
  settings.vertical.analogs.memory_oom_days = 0.02;
  settings.vertical.work_function.cpu_throttled = 0.003;
  const LiveFleet fleet(settings);
  Add("peak", 1, 4, 2).recommender = Policy::kPeak;
  for (const Resource r : kResources) {
    const FleetRisk none = RiskOf(fleet, view_, r);
    EXPECT_FALSE(none.days_ordered.has_value() || none.work_ordered.has_value() ||
                 none.work_over.has_value());
  }
  Add("combined", 1, 4, 2).recommender = Policy::kCombined;
  const FleetRisk cpu = RiskOf(fleet, view_, Resource::kCpu);
  EXPECT_EQ(cpu.work_ordered, 0.003);
  EXPECT_FALSE(cpu.work_over.has_value()) << "no job is old enough";
  EXPECT_FALSE(cpu.days_ordered.has_value());
  const FleetRisk memory = RiskOf(fleet, view_, Resource::kMemory);
  EXPECT_EQ(memory.days_ordered, 0.02);
  EXPECT_FALSE(memory.work_ordered.has_value());
  settings.vertical.work_function.price = 50;
  EXPECT_FALSE(RiskOf(LiveFleet(settings), view_, Resource::kCpu).work_ordered.has_value());
}

TEST_F(FleetViewTest, PartsOfNamesFindJobs) {
  Add("shop/web", 1, 4, 2);
  Add("shop/api", 1, 4, 2);
  EXPECT_THAT(JobsThatFit(view_, "WEB shop"), ElementsAre(true));
  EXPECT_THAT(JobsThatFit(view_, ""), ElementsAre(true, true));
}

}  // namespace
}  // namespace taut
