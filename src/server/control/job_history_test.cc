#include "server/control/job_history.h"

#include "gtest/gtest.h"

namespace taut::server {
namespace {

// Returns a day with two tasks in each of four windows. `needed`: probed need of the first task; negative: not
// known.
JobDay DayOf(const std::vector<float>& needed) {
  JobDay day;
  for (size_t i = 0; i < needed.size(); ++i) {
    JobWindow& w = day.windows.emplace_back();
    w.window = WindowId{static_cast<int32_t>(i)};
    w.first_task = static_cast<uint32_t>(day.tasks.size());
    w.num_tasks = 2;
    for (uint32_t task = 0; task < 2; ++task) {
      TaskWindow& t = day.tasks.emplace_back();
      t.task = task;
      t.memory_mean_bytes = t.memory_peak_bytes = 1e9F;
      if (task == 0) t.memory_needed_bytes = needed[i];
    }
  }
  return day;
}

TEST(Heatmap, AColumnHasTheMostThatATaskNeededInItsWindows) {
  const JobDay day = DayOf({4e8F, 6e8F, kAbsent, kAbsent});
  const HeatmapQuery query{Resource::kMemory, 0, int64_t{4} * kWindowSeconds, 2};
  const Heatmap map = MakeHeatmap(query, {&day, 1}, {});
  ASSERT_EQ(map.time_s.size(), 2U);
  ASSERT_EQ(map.needed.size(), 2U);
  EXPECT_EQ(map.needed[0], std::optional<double>(6e8F));
  EXPECT_EQ(map.needed[1], std::nullopt) << "not known is not 0";
  // The heatmap has no windows outside the query.
  const HeatmapQuery first{Resource::kMemory, 0, kWindowSeconds, 1};
  EXPECT_EQ(MakeHeatmap(first, {&day, 1}, {}).needed, (std::vector<std::optional<double>>{double{4e8F}}));
}

}  // namespace
}  // namespace taut::server
