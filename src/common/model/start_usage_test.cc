#include "common/model/start_usage.h"

#include "gtest/gtest.h"

namespace taut {
namespace {

TEST(StartUsage, SumsTasksAndReadsBackWhatItPut) {
  const TaskStart starts[] = {{.task = 1, .peak_cores = 2, .more_cores = 1.5F, .is_all = true},
                              {.task = 4, .peak_cores = 3, .more_cores = 0.25F, .is_all = false}};
  const StartSums sums = SumStarts(starts);
  EXPECT_EQ(sums.peak_cores, 3);
  EXPECT_EQ(sums.more_cores, 1.75F);
  EXPECT_EQ(sums.tasks, 1U);
  std::vector<NamedSignal> signals = {{"before", 1}, {"queue", 7}};
  ASSERT_EQ(PutStarts(sums, 1, signals), 3U);
  EXPECT_EQ(signals.front().name, "before");
  EXPECT_EQ(signals.back().name, "queue");
  const StartSums read = StartsOf(signals);
  EXPECT_EQ(read.peak_cores, 3);
  EXPECT_EQ(read.more_cores, 1.75F);
  EXPECT_EQ(read.tasks, 1U);
}

TEST(StartUsage, NothingIsPutAndReadWhereNoTaskStarts) {
  std::vector<NamedSignal> signals;
  EXPECT_EQ(PutStarts(SumStarts({}), 0, signals), 0U);
  EXPECT_TRUE(signals.empty());
  const NamedSignal own[] = {{"queue", 7}, {"_n", 3}};
  EXPECT_FALSE(StartsOf(own).known());
  // Damaged values are ignored.
  const NamedSignal damaged[] = {{"_sc", 1}, {"_sp", -2}, {"_st", 1}};
  EXPECT_FALSE(StartsOf(damaged).known());
}

}  // namespace
}  // namespace taut
