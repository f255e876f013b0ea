#include "server/control/what_if.h"

#include <algorithm>
#include <cmath>

#include "brain/fleet/policies.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

constexpr float kLimit = 300 * 1024 * 1024.0F;
constexpr int kDays = 15;

// Returns the days of a task whose usage stays at its owner's limit, which bounds the usage.
std::vector<JobDay> CutOff() {
  std::vector<JobDay> days(kDays);
  for (int32_t d = 0; d < kDays; ++d) {
    JobDay& day = days[static_cast<size_t>(d)];
    day.day = d;
    for (int32_t w = d * kWindowsPerDay; w < (d + 1) * kWindowsPerDay; ++w) {
      JobWindow window;
      window.window = WindowId{w};
      window.first_task = static_cast<uint32_t>(day.tasks.size());
      window.num_tasks = 1;
      window.memory_limit_bytes = kLimit;
      TaskWindow task;
      task.memory_mean_bytes = 0.9F * kLimit;
      task.memory_peak_bytes = w % 4 == 0 ? kLimit : 0.95F * kLimit;
      day.windows.push_back(window);
      day.tasks.push_back(task);
    }
  }
  return days;
}

// Returns four kills a day, at `limit`.
std::vector<OomRecord> Kills(std::optional<double> limit) {
  std::vector<OomRecord> kills;
  for (int64_t d = 0; d < kDays; ++d) {
    for (int64_t i = 0; i < 4; ++i)
      kills.push_back({JobId{0}, 0, d * kDaySeconds + (2 + i) * 3600 + 10, 1, limit});
  }
  return kills;
}

class WhatIfTest : public testing::Test {
 protected:
  WhatIfTest() {
    policy_.recommender = brain::Policy::kStatic;
    query_.policy = &policy_;
    query_.settings = &settings_;
    query_.fleet = &fleet_;
    query_.change.recommender = brain::Policy::kPeak;
  }
  brain::VerticalSettings settings_;
  brain::FleetModels fleet_{settings_};
  brain::JobPolicy policy_;
  WhatIfQuery query_;
};

TEST_F(WhatIfTest, ALimitThatKilledIsOverThoughUsageWasCutOffThere) {
  const WhatIfResult unknown = WhatIf(query_, CutOff(), {});
  EXPECT_EQ(unknown.now.days_over, 0U) << "nothing is seen above a limit that cuts usage off";
  for (const std::optional<double> limit : {std::optional<double>(kLimit), std::optional<double>()}) {
    const WhatIfResult result = WhatIf(query_, CutOff(), Kills(limit));
    EXPECT_EQ(result.oom_kills, 4U * kDays);
    EXPECT_EQ(result.now.days, uint32_t{kDays});
    EXPECT_EQ(result.now.days_over, uint32_t{kDays});
    EXPECT_EQ(result.now.windows_over, 4U * kDays);
    EXPECT_EQ(result.whatif.days_over, 1U) << "one that hears of kills is above them from the first on";
    EXPECT_GT(result.whatif.limit.back(), kLimit * 1.15);
  }
}

TEST_F(WhatIfTest, ALimitBelowTheOneThatKilledIsOverToo) {
  query_.change.upper = 0.96 * kLimit;
  const std::vector<OomRecord> kills = Kills(2.0 * kLimit);
  const WhatIfResult result = WhatIf(query_, CutOff(), kills);
  EXPECT_EQ(result.whatif.days_over, uint32_t{kDays});
  EXPECT_EQ(result.now.days_over, uint32_t{kDays}) << "below what killed";
}

TEST_F(WhatIfTest, KillsBeforeTheScoredTimeAreLivedAndNotCounted) {
  query_.score_from = WindowId{10 * kWindowsPerDay};
  std::vector<OomRecord> kills = Kills(kLimit);
  kills.resize(9 * 4);
  const WhatIfResult result = WhatIf(query_, CutOff(), kills);
  EXPECT_EQ(result.oom_kills, 0U);
  EXPECT_EQ(result.now.days_over, 0U);
  EXPECT_GT(result.whatif.limit.front(), kLimit * 1.15);
}

// Returns days whose usage falls by one per cent a day, far below the owner's limit.
std::vector<JobDay> Falling() {
  std::vector<JobDay> days = CutOff();
  for (JobDay& day : days) {
    for (TaskWindow& task : day.tasks) {
      task.memory_peak_bytes = task.memory_mean_bytes =
          0.5F * kLimit * std::pow(0.99F, static_cast<float>(day.day));
    }
  }
  return days;
}

// Returns the sizes of the steps down, as shares of the previous limit.
std::vector<double> Lowered(const WhatIfLane& lane) {
  std::vector<double> steps;
  for (size_t i = 1; i < lane.limit.size(); ++i) {
    const double before = *lane.limit[i - 1], after = *lane.limit[i];
    if (after < before) steps.push_back(1 - after / before);
  }
  return steps;
}

TEST_F(WhatIfTest, LimitsChangeAsTheGateAllows) {
  query_.change.recommender = brain::Policy::kMovingWindow;
  policy_.min_change = 0;
  const std::vector<double> often = Lowered(WhatIf(query_, Falling(), {}).whatif);
  policy_.min_change = 0.05;
  const std::vector<double> rarely = Lowered(WhatIf(query_, Falling(), {}).whatif);
  ASSERT_FALSE(rarely.empty());
  EXPECT_LT(rarely.size(), often.size());
  EXPECT_GE(*std::min_element(rarely.begin(), rarely.end()), 0.05);

  policy_.maintenance = {{.days = 0, .start_minute = 0, .end_minute = 60}};
  EXPECT_TRUE(Lowered(WhatIf(query_, Falling(), {}).whatif).empty()) << "there is never a time for it";
}

TEST_F(WhatIfTest, CpuKnowsNoKills) {
  query_.resource = Resource::kCpu;
  EXPECT_EQ(WhatIf(query_, CutOff(), Kills(kLimit)).oom_kills, 0U);
}

TEST_F(WhatIfTest, LearnsOfTheNeedThatIsStoredWhereTheJobDoes) {
  std::vector<JobDay> days = CutOff();
  for (JobDay& day : days) {
    for (TaskWindow& task : day.tasks) task.memory_needed_bytes = 0.4F * kLimit;
  }
  EXPECT_GT(WhatIf(query_, days, {}).whatif.limit.back(), kLimit);
  policy_.memory_signal = brain::MemorySignal::kProbe;
  const WhatIfResult probed = WhatIf(query_, days, {});
  EXPECT_NEAR(*probed.whatif.limit.back(), 1.15 * 1.1 * 0.4 * kLimit, 0.02 * kLimit);
  EXPECT_EQ(probed.whatif.days_over, 0U) << "the need, not the usage, is held against it";
  EXPECT_EQ(probed.usage_peak.front(), kLimit);
}

}  // namespace
}  // namespace taut::server
