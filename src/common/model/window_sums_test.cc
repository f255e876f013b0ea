#include "common/model/window_sums.h"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(WindowSums, CountTasksThatWereMeasuredAndNoPeakBelowItsMean) {
  JobDay day;
  day.tasks = {{.task = 9, .cpu_mean_cores = 100, .cpu_peak_cores = 100},  // belongs to another window
               {.task = 0, .cpu_mean_cores = 1, .cpu_peak_cores = 3},
               {.task = 1, .cpu_mean_cores = 2},
               {.task = 2, .memory_mean_bytes = 50, .memory_peak_bytes = 60}};
  JobWindow window;
  window.first_task = 1;
  window.num_tasks = 3;
  const UsageSums cpu = SumUsage(day, window, Resource::kCpu);
  EXPECT_EQ(cpu.tasks, 2U);
  EXPECT_EQ(cpu.usage, 3);
  EXPECT_EQ(cpu.peak, 5);
  const UsageSums memory = SumUsage(day, window, Resource::kMemory);
  EXPECT_EQ(memory.tasks, 1U);
  EXPECT_EQ(memory.peak, 60);
}

TEST(WindowSums, TheOwnersLimitIsTheSumWhereTasksDiffer) {
  JobWindow window;
  EXPECT_FALSE(OwnerLimitSum(window, Resource::kCpu, 3).has_value());
  window.cpu_limit_cores = 1.5;
  EXPECT_EQ(OwnerLimitSum(window, Resource::kCpu, 3), 4.5);
  window.cpu_limit_sum_cores = 2.5;
  EXPECT_EQ(OwnerLimitSum(window, Resource::kCpu, 3), 2.5);
  EXPECT_FALSE(OwnerLimitSum(window, Resource::kMemory, 3).has_value());
}

}  // namespace
}  // namespace taut
