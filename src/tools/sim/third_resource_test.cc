// Tests that the replay scores a resource that exists only as a row of the resource table. Empty in builds without
// TAUT_THIRD_RESOURCE.
#ifdef TAUT_THIRD_RESOURCE
#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

TEST(ThirdResource, AReplayScoresItLikeMemoryThatWasUsedAlike) {
  MadeDays source;
  for (int j = 0; j < 6; ++j) {
    const JobId job = source.AddJob(Named("job-" + std::to_string(j)));
    for (int32_t w = 0; w < 4 * kWindowsPerDay; ++w) {
      TaskWindow t{.task = 0};
      t.memory_peak_bytes = static_cast<float>((1 + j + (w % 50 == 7 ? 3 : 0)) * 256 * kMiB);
      t.memory_mean_bytes = 0.9F * t.memory_peak_bytes;
      t.disk_peak_bytes = t.memory_peak_bytes;
      t.disk_mean_bytes = t.memory_mean_bytes;
      source.Put(job, w, t);
    }
  }
  const ReplayOptions options =
      Options({brain::Policy::kMovingWindow, brain::Policy::kPeak}, {Resource::kMemory, Resource::kDisk});
  const ReplayOutcome lived = Lived(source, options);
  ASSERT_EQ(lived.result.lanes.size(), 4U);
  for (const LaneResult& memory : lived.result.lanes) {
    if (memory.resource != Resource::kMemory) continue;
    const auto disk = std::ranges::find_if(lived.result.lanes, [&](const LaneResult& l) {
      return l.policy == memory.policy && l.resource == Resource::kDisk;
    });
    ASSERT_NE(disk, lived.result.lanes.end());
    ASSERT_EQ(disk->per_job.size(), 6U);
    for (size_t j = 0; j < disk->per_job.size(); ++j) {
      const Totals &of_disk = disk->per_job[j], &of_memory = memory.per_job[j];
      EXPECT_GT(of_memory.limit_seconds, 0);
      EXPECT_EQ(of_disk.limit_seconds, of_memory.limit_seconds);
      EXPECT_EQ(of_disk.usage_seconds, of_memory.usage_seconds);
      EXPECT_EQ(of_disk.windows_over, of_memory.windows_over);
      EXPECT_EQ(of_disk.changes, of_memory.changes);
    }
  }
}

}  // namespace
}  // namespace taut::tools
#endif
