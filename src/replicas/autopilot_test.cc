// The worked figures of AP §3.3 (papers.md §1.5, A15, A16).
#include "replicas/autopilot.h"

#include "gtest/gtest.h"

namespace taut {
namespace {

constexpr int kMinutes = 5;  // of an averaging window

// Decides every minute of one averaging window of this load; the count runs as decided, all ready.
int Window(AutopilotReplicaPolicy& policy, int window, double load, int count, double capacity = 1) {
  for (int m = 0; m < kMinutes; ++m) {
    count = policy.Decide({Timestamp::FromSeconds((window * kMinutes + m) * 60), load, capacity, count, 0});
  }
  return count;
}

AutopilotReplicaSettings Plain() {
  AutopilotReplicaSettings s;
  s.target = 0.5;
  s.small_change = 0;
  s.horizon_s = 300;
  return s;
}

TEST(Autopilot, DecaysSlowlyToHalfInAnHour) {
  AutopilotReplicaPolicy policy(Plain(), ReplicaBounds{});
  int count = Window(policy, 0, 50, 100);
  std::vector<int> counts;
  for (int w = 1; w <= 14; ++w) counts.push_back(count = Window(policy, w, 5, count));
  // The window before each is the first with the low load.
  EXPECT_EQ(counts, (std::vector<int>{100, 95, 90, 85, 80, 75, 71, 67, 63, 60, 57, 53, 50, 48}));
}

TEST(Autopilot, FewTasksShrinkToo) {
  AutopilotReplicaPolicy policy(Plain(), ReplicaBounds{});
  int count = Window(policy, 0, 5, 10);
  for (int w = 1; w <= 13; ++w) count = Window(policy, w, 0, count);
  EXPECT_EQ(count, 5);
  for (int w = 14; w <= 13 + 36; ++w) count = Window(policy, w, 0, count);
  EXPECT_EQ(count, 1);
}

TEST(Autopilot, GoesUpAtOnceByTheStatisticOverTheTarget) {
  AutopilotReplicaPolicy policy(Plain(), ReplicaBounds{});
  int count = Window(policy, 0, 5, 10);
  count = Window(policy, 1, 12, count);
  EXPECT_EQ(Window(policy, 2, 12, count), 24);  // ceil(12 / (0.5 * 1))
}

TEST(Autopilot, P95IgnoresTheTop43Of864Windows) {
  for (const auto& [peaks, expected] : {std::pair{43, 10}, std::pair{44, 40}}) {
    AutopilotReplicaSettings s = Plain();
    s.horizon_s = 72 * 3600;
    s.statistic = LoadStatistic::kP95;
    AutopilotReplicaPolicy policy(s, ReplicaBounds{});
    int count = 10;
    for (int w = 0; w < 864 - peaks; ++w) count = Window(policy, w, 5, count);
    for (int w = 864 - peaks; w < 864; ++w) count = Window(policy, w, 20, count);
    EXPECT_EQ(Window(policy, 864, 20, count), expected) << peaks;
  }
}

TEST(Autopilot, DefersDownscaling) {
  AutopilotReplicaSettings s = Plain();
  s.defer_downscaling_s = 3600;
  s.decay_half_life_s = 0;
  AutopilotReplicaPolicy policy(s, ReplicaBounds{});
  int count = Window(policy, 0, 50, 100);
  for (int w = 1; w <= 13; ++w) {
    count = Window(policy, w, 5, count);
    EXPECT_EQ(count, 100) << w;
  }
  EXPECT_EQ(Window(policy, 14, 5, count), 10);
}

TEST(Autopilot, SmallChangesAreNotMade) {
  AutopilotReplicaSettings s = Plain();
  s.small_change = 0.1;
  AutopilotReplicaPolicy policy(s, ReplicaBounds{});
  int count = Window(policy, 0, 50, 100);
  count = Window(policy, 1, 55, count);
  count = Window(policy, 2, 55.5, count);
  EXPECT_EQ(count, 100);  // 110 is 10 % more
  EXPECT_EQ(Window(policy, 3, 55.5, count), 111);
}

TEST(Autopilot, GrowthWaitsForStartingTasks) {
  AutopilotReplicaSettings s = Plain();
  s.max_starting = 0.2;
  AutopilotReplicaPolicy policy(s, ReplicaBounds{});
  int count = Window(policy, 0, 5, 8);
  count = Window(policy, 1, 50, count);
  // 8 ready may have 2 starting: 20 % of 10.
  EXPECT_EQ(policy.Decide({Timestamp::FromSeconds(600), 50.0, 1, 8, 0}), 10);
  EXPECT_EQ(policy.Decide({Timestamp::FromSeconds(660), 50.0, 1, 8, 2}), 10);
  EXPECT_EQ(policy.Decide({Timestamp::FromSeconds(720), 50.0, 1, 10, 0}), 12);
}

TEST(Autopilot, TheLimitUsedIsFrozenBetweenResizes) {
  AutopilotReplicaPolicy policy(Plain(), ReplicaBounds{});
  int count = Window(policy, 0, 5, 10, 1);
  count = Window(policy, 1, 5, count, 2);  // the vertical loop has doubled the limit
  count = Window(policy, 2, 5, count, 2);
  EXPECT_EQ(count, 10);
  count = Window(policy, 3, 20, count, 2);
  EXPECT_EQ(Window(policy, 4, 20, count, 2), 20);  // the load asks for a change: with the limit as it is now
}

}  // namespace
}  // namespace taut
