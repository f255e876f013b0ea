#include "tools/sim/usage_loads.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/sim/made_days.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TaskWindow Cpu(uint32_t task, double cores) {
  TaskWindow t;
  t.task = task;
  t.cpu_mean_cores = t.cpu_peak_cores = static_cast<float>(cores);
  return t;
}

TEST(UsageLoads, AJobsLoadIsTheCpuOfItsTasksAndWindowsWithoutAnyAreAbsent) {
  MadeDays days;
  const JobId idle =
      days.AddJob({.name = "memory only", .logical_name = "", .sensitivity = {}, .priority = {}});
  const JobId web = days.AddJob({.name = "web", .logical_name = "", .sensitivity = {}, .priority = {}});
  days.PutMemory(idle, 0, 0, 1e8, 1e8);
  for (const int32_t window : {286, 287, 290}) {  // windows before and after midnight
    days.Put(web, window, Cpu(0, 1.5));
    days.Put(web, window, Cpu(1, window == 290 ? 2.5 : 0.5));
    days.SetOwner(web, window, window == 290 ? 4 : 3, 1e9);
  }
  days.Finish();
  const absl::StatusOr<UsageLoads> read = ReadUsageLoads(days);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->loads.size(), 1U);
  const LoadSeries& load = read->loads[0];
  EXPECT_EQ(load.job, "web");
  EXPECT_EQ(load.start_s, 286 * 300);
  EXPECT_EQ(load.step_s, 300);
  EXPECT_THAT(load.load, ElementsAre(2, 2, LoadSeries::kAbsentLoad, LoadSeries::kAbsentLoad, 4));
  EXPECT_THAT(read->limits, ElementsAre(4)) << "the one known last";
}

TEST(UsageLoads, WithoutCpuThereIsNothing) {
  MadeDays days;
  const JobId idle = days.AddJob({.name = "a", .logical_name = "", .sensitivity = {}, .priority = {}});
  days.PutMemory(idle, 0, 0, 1e8, 1e8);
  days.Finish();
  EXPECT_THAT(ReadUsageLoads(days).status().message(), HasSubstr("no CPU usage"));
}

}  // namespace
}  // namespace taut::tools
