// Tests of the detection of memory that grows towards a limit, from samples of open windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/base/byte_units.h"
#include "server/ingest/ingest.h"

namespace taut::server {
namespace {

constexpr int64_t kGrowthStart = 1'700'000'100;

// Pods of the Deployment web, with two containers each, sampled every 15 s.
class GrowthCell {
 public:
  // Sends a sample of the memory of a pod's container, MiB.
  void Take(const char* pod, const char* container, double mib, int second) {
    const std::vector<LabelView> labels = {{"__name__", "container_memory_working_set_bytes"},
                                           {"container", container},
                                           {"namespace", "shop"},
                                           {"pod", pod}};
    const RemoteSample sample{mib * kMiB, (kGrowthStart + second) * 1000};
    ingest_.Take({labels, {&sample, 1}, Fingerprint(labels)}, Timestamp{sample.timestamp_ms * 1000});
  }
  // Returns the projected memory of the largest task, MiB; 0: no task passes the limit.
  double Will(double limit_mib, int second) {
    const JobLimit limit{JobId{0}, limit_mib * kMiB};
    const auto seen = ingest_.windows().FindGrowth({&limit, 1}, Timestamp::FromSeconds(kGrowthStart + second),
                                                   ingest_.mapper());
    return seen.empty() ? 0 : seen[0].bytes / kMiB;
  }

 private:
  Ingest ingest_{*MappingRules::Compile(BuiltinRules()), Ingest::Options()};
};

constexpr const char* kGrowingPod = "web-5d4f8c7b9d-x2x4z";

TEST(LiveGrowth, ALinePassesTheLimitWithinAWindow) {
  GrowthCell cell;
  for (int second = 0; second <= 150; second += 15) {
    cell.Take(kGrowingPod, "app", 20 + second / 10.0, second);
    cell.Take(kGrowingPod, "mesh", 5, second);
  }
  // Usage is 40 MiB and grows by 6 MiB a minute: 70 MiB in five minutes.
  EXPECT_NEAR(cell.Will(60, 150), 70, 1);
  EXPECT_EQ(cell.Will(80, 150), 0);
  EXPECT_EQ(cell.Will(60, 300), 0) << "its samples are old";
}

TEST(LiveGrowth, WhatIsSteadyOrShortOrFallsIsNone) {
  GrowthCell steady, shrinking, young, stopped;
  for (int second = 0; second <= 150; second += 15) {
    steady.Take(kGrowingPod, "app", 58, second);
    shrinking.Take(kGrowingPod, "app", 59 - second / 60.0, second);
    if (second >= 60) young.Take(kGrowingPod, "app", 20 + second / 10.0, second);
    stopped.Take(kGrowingPod, "app", 20 + std::min(second, 60), second);
  }
  for (GrowthCell* cell : {&steady, &shrinking, &young, &stopped}) EXPECT_EQ(cell->Will(60, 150), 0);
}

TEST(LiveGrowth, TheLargestTaskCounts) {
  GrowthCell cell;
  for (int second = 0; second <= 150; second += 15) {
    cell.Take(kGrowingPod, "app", 20 + second / 10.0, second);
    cell.Take("web-5d4f8c7b9d-b2b4z", "app", 40 + second / 10.0, second);
  }
  EXPECT_NEAR(cell.Will(60, 150), 85, 1);
}

}  // namespace
}  // namespace taut::server
