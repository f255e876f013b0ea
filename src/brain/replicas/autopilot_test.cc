// Tests of Autopilot's horizontal scaling with the figures of §3.3.
#include "brain/replicas/autopilot.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr int kMinutes = 5;  // number of minutes per averaging window

// Decides in every minute of one averaging window with a load of `load`. All decided tasks are ready at once.
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
  // A decision uses the windows that closed before the decision, so the low load counts from the second decision
  // on.
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
  EXPECT_EQ(Window(policy, 2, 12, count), 24);  // ceil(12 / (0.5 * 1)) tasks
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
  EXPECT_EQ(count, 100);  // 110 tasks would differ by 10 %, which is a small change
  EXPECT_EQ(Window(policy, 3, 55.5, count), 111);
}

TEST(Autopilot, GrowthWaitsForStartingTasks) {
  AutopilotReplicaSettings s = Plain();
  s.max_starting = 0.2;
  AutopilotReplicaPolicy policy(s, ReplicaBounds{});
  int count = Window(policy, 0, 5, 8);
  count = Window(policy, 1, 50, count);
  // 8 ready tasks allow 2 starting tasks, which are 20 % of 10.
  EXPECT_EQ(policy.Decide({Timestamp::FromSeconds(600), 50.0, 1, 8, 0}), 10);
  EXPECT_EQ(policy.Decide({Timestamp::FromSeconds(660), 50.0, 1, 8, 2}), 10);
  EXPECT_EQ(policy.Decide({Timestamp::FromSeconds(720), 50.0, 1, 10, 0}), 12);
}

TEST(Autopilot, TheLimitUsedIsFrozenBetweenResizes) {
  AutopilotReplicaPolicy policy(Plain(), ReplicaBounds{});
  int count = Window(policy, 0, 5, 10, 1);
  count = Window(policy, 1, 5, count, 2);  // vertical scaling has doubled the limit
  count = Window(policy, 2, 5, count, 2);
  EXPECT_EQ(count, 10);
  count = Window(policy, 3, 20, count, 2);
  EXPECT_EQ(Window(policy, 4, 20, count, 2), 20);  // the load requires a change, so capacity 2 is used
}

LoadSample Minute(int minute, std::optional<double> load, int count, double capacity = 1) {
  return {Timestamp::FromSeconds(minute * 60), load, capacity, count, 0};
}
std::string Why(const AutopilotReplicaPolicy& policy) {
  Reason reason;
  policy.Explain(reason);
  return reason.sentence;
}
std::string SavedAutopilot(const AutopilotReplicaPolicy& policy) {
  std::string bytes;
  ByteWriter out(&bytes);
  policy.Save(out);
  return bytes;
}

// r[tau] is the mean of the measured minutes of a window: loads of 2, 4 and 9 have the mean 5. An unmeasured
// minute does not count as 0.
TEST(Autopilot, AWindowIsTheMeanOfWhatWasMeasured) {
  AutopilotReplicaPolicy policy(Plain(), ReplicaBounds{});
  int minute = 0;
  for (const std::optional<double> load : {std::optional(2.0), std::optional<double>(), std::optional(4.0),
                                           std::optional(9.0), std::optional<double>()})
    EXPECT_EQ(policy.Decide(Minute(minute++, load, 3)), 3);
  EXPECT_EQ(policy.Decide(Minute(minute, 1.0, 3)), 10);
  // The mean of the next window does not include earlier windows and is 1.
  for (int m = 6; m < 10; ++m) (void)policy.Decide(Minute(m, 1.0, 10));
  EXPECT_EQ(policy.Decide(Minute(10, 1.0, 10)), 10) << "halved in an hour, not at once";
  EXPECT_EQ(Why(policy),
            "The highest load of the last 0.0833333 h is 1: 2 tasks at 50 % of 1 each, 10 after smoothing.");
}

TEST(Autopilot, SaysWhyTheCountStays) {
  AutopilotReplicaPolicy policy(Plain(), ReplicaBounds{.min = 2, .max = 50});
  EXPECT_EQ(policy.Decide(Minute(0, 5, 10)), 10);
  EXPECT_EQ(Why(policy), "No averaging window has closed yet, so the count stays 10.");
  EXPECT_EQ(policy.Decide(Minute(1, std::nullopt, 11)), 11);
  EXPECT_EQ(Why(policy), "The load was not measured, so the count stays 11.");
  EXPECT_EQ(policy.Decide(Minute(2, std::nullopt, 60)), 50) << "within the bounds";
  EXPECT_EQ(policy.Decide(Minute(3, 5, 1)), 2);
  EXPECT_EQ(policy.Decide(Minute(5, 5, 10)), 10);
  Reason reason;
  policy.Explain(reason);
  ASSERT_EQ(reason.facts.size(), 2U);
  EXPECT_EQ(std::get<double>(reason.facts[0].value), 5);
  EXPECT_EQ(std::get<double>(reason.facts[1].value), 1);
  AutopilotReplicaSettings p95 = Plain();
  p95.statistic = LoadStatistic::kP95;
  p95.horizon_s = 72 * 3600;
  AutopilotReplicaPolicy other(p95, ReplicaBounds{});
  (void)Window(other, 0, 5, 10);
  (void)other.Decide(Minute(5, 5, 10));
  EXPECT_EQ(Why(other),
            "The 95th percentile load of the last 72 h is 5: 10 tasks at 50 % of 1 each, 10 after "
            "smoothing.");
}

// r_S[t] covers [t-T, t]: a window counts until T after its end, even if later windows were not measured.
TEST(Autopilot, AWindowCountsForItsHorizon) {
  AutopilotReplicaSettings s = Plain();
  s.horizon_s = 3 * 300;
  s.decay_half_life_s = 0;
  AutopilotReplicaPolicy policy(s, ReplicaBounds{});
  int count = Window(policy, 0, 50, 100);
  for (int w = 1; w <= 3; ++w) count = Window(policy, w, 5, count);
  EXPECT_EQ(count, 100);
  EXPECT_EQ(Window(policy, 4, 5, count), 10);
  // After a gap longer than the horizon, only the window that closes next counts.
  EXPECT_EQ(policy.Decide(Minute(5 * kMinutes, std::nullopt, 10)), 10);
  EXPECT_EQ(policy.Decide(Minute(9 * kMinutes, std::nullopt, 10)), 10);
  EXPECT_EQ(policy.Decide(Minute(20 * kMinutes, 40, 10)), 10);
  EXPECT_EQ(policy.Decide(Minute(21 * kMinutes, 40, 10)), 80);
}

// The first of ten windows had the highest load and one window was not measured, so the count stays.
TEST(Autopilot, TheHighestOfManyWindowsCounts) {
  AutopilotReplicaSettings s = Plain();
  s.horizon_s = 12 * 300;
  s.decay_half_life_s = 0;
  AutopilotReplicaPolicy policy(s, ReplicaBounds{});
  int count = Window(policy, 0, 50, 100);
  for (int m = kMinutes; m < 2 * kMinutes; ++m) EXPECT_EQ(policy.Decide(Minute(m, std::nullopt, count)), 100);
  for (int w = 2; w < 11; ++w) EXPECT_EQ(count = Window(policy, w, w, count), 100) << w;
  Reason reason;
  policy.Explain(reason);
  EXPECT_EQ(std::get<double>(reason.facts.at(0).value), 50);
}

// After a resize, the next change of the count uses the new limit.
TEST(Autopilot, AChangeOfTheCountTakesTheNewLimit) {
  AutopilotReplicaPolicy policy(Plain(), ReplicaBounds{});
  int count = Window(policy, 0, 5, 10, 1);
  count = Window(policy, 1, 6, count, 2);
  EXPECT_EQ(count, 10);
  EXPECT_EQ(Window(policy, 2, 6, count, 2), 10) << "12 at the old limit, 6 at the new: falls slowly";
  Reason reason;
  policy.Explain(reason);
  EXPECT_EQ(std::get<double>(reason.facts[1].value), 1) << "the count has not changed yet";
  count = policy.Decide(Minute(3 * kMinutes, 6, 10, 2));
  EXPECT_LT(count, 10);
  Reason changed;
  policy.Explain(changed);
  EXPECT_EQ(std::get<double>(changed.facts[1].value), 2);
}

// Saving and loading a policy after every sample changes neither decisions nor explanations.
TEST(Autopilot, AStateGoesOnAsItWas) {
  for (const LoadStatistic statistic : {LoadStatistic::kMax, LoadStatistic::kP95}) {
    AutopilotReplicaSettings s;
    s.horizon_s = 40 * 300;
    s.statistic = statistic;
    s.defer_downscaling_s = 1800;
    AutopilotReplicaPolicy straight(s, ReplicaBounds{});
    auto broken = std::make_unique<AutopilotReplicaPolicy>(s, ReplicaBounds{});
    int count = 10;
    for (int m = 0; m < 700; ++m) {
      const double wave = 8 + 6 * (m / 120 % 2) + m % 7;
      const LoadSample sample =
          Minute(m, m % 11 == 3 ? std::nullopt : std::optional(wave), count, m < 300 ? 1 : 1.5);
      count = straight.Decide(sample);
      ASSERT_EQ(broken->Decide(sample), count) << m;
      ASSERT_EQ(Why(*broken), Why(straight)) << m;
      const std::string bytes = SavedAutopilot(*broken);
      broken = std::make_unique<AutopilotReplicaPolicy>(s, ReplicaBounds{});
      ByteReader in(bytes);
      ASSERT_TRUE(broken->Load(in).ok());
      ASSERT_EQ(in.remaining(), 0U);
      ASSERT_EQ(SavedAutopilot(*broken), bytes);
      ASSERT_EQ(Why(*broken), Why(straight)) << m;
    }
  }
}

TEST(Autopilot, RefusesAStateThatCannotBe) {
  AutopilotReplicaSettings s = Plain();
  s.horizon_s = 3600;
  AutopilotReplicaPolicy policy(s, ReplicaBounds{});
  int count = 10;
  for (int w = 0; w < 3; ++w) count = Window(policy, w, 5 + w, count);
  const std::string bytes = SavedAutopilot(policy);
  AutopilotReplicaPolicy other(s, ReplicaBounds{});
  const std::string empty = SavedAutopilot(other);
  const auto load = [&](const std::string& state) {
    ByteReader in(state);
    return other.Load(in).code();
  };
  for (size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_EQ(load(bytes.substr(0, cut)), absl::StatusCode::kDataLoss) << cut;
  // Offsets in the state: length of a window, number of the open window (9 bytes), sum and count of its samples,
  // number of closed windows (a byte). The number and the mean of each closed window follow.
  constexpr size_t kOpen = 8, kSum = kOpen + 9, kSamples = kSum + 8, kWindows = kSamples + 4 + 1,
                   kOneWindow = 16;
  const auto with = [&](size_t at, auto value) {
    std::string damaged = bytes;
    std::memcpy(damaged.data() + at, &value, sizeof(value));
    return load(damaged);
  };
  EXPECT_EQ(with(0, 60.0), absl::StatusCode::kInvalidArgument) << "windows of another length";
  EXPECT_EQ(with(kSum, std::nan("")), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(kSamples, -1), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(kWindows + kOneWindow, int64_t{0}), absl::StatusCode::kDataLoss) << "the first window again";
  EXPECT_EQ(with(kWindows + kOneWindow, int64_t{-1}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(bytes.size() - 1, uint8_t{2}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(SavedAutopilot(other), empty) << "what is refused changes nothing";
  EXPECT_EQ(load(bytes), absl::StatusCode::kOk);
  EXPECT_EQ(with(kWindows, int64_t{-5}), absl::StatusCode::kOk) << "times before 1970 are times";
}

TEST(Autopilot, CountsItsBytes) {
  AutopilotReplicaSettings s = Plain();
  s.horizon_s = 3600;
  AutopilotReplicaPolicy policy(s, ReplicaBounds{});
  EXPECT_EQ(policy.state_bytes(), sizeof(policy));
  int count = 10;
  for (int w = 0; w < 3; ++w) count = Window(policy, w, 5, count);
  // The heap contains two closed windows of 16 bytes each, and one recommendation, because the deferral is 0.
  EXPECT_EQ(policy.state_bytes(), sizeof(policy) + 2 * 16 + 16);
}

}  // namespace
}  // namespace taut::brain
