#include "tools/sim/overcommit_replay.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tools/sim/placed_tasks.h"

namespace taut::tools {
namespace {

constexpr float kNone = -1;

// Returns tasks with a limit of 10. The usage of each task is a daily wave, at another phase for each task.
PlacedTasks Tasks(size_t tasks, int days) {
  PlacedTasks placed;
  placed.windows = static_cast<size_t>(days * kWindowsPerDay);
  for (size_t t = 0; t < tasks; ++t) {
    TaskSeries series{"t" + std::to_string(t), {}, std::vector<float>(placed.windows, 10)};
    for (size_t i = 0; i < placed.windows; ++i) {
      const double phase = static_cast<double>(i % kWindowsPerDay + 37 * t) / kWindowsPerDay;
      series.usage.push_back(static_cast<float>(2 + std::sin(2 * M_PI * phase) + 0.01 * double(i % 7)));
    }
    placed.tasks.push_back(std::move(series));
  }
  return placed;
}

OvercommitOptions ReplayOptionsOf(std::vector<std::string> predictors) {
  OvercommitOptions o;
  o.predictors = std::move(predictors);
  o.machine_tasks = 5;
  o.warmup_s = 2 * kDaySeconds;
  return o;
}

// Without a bound, two rows 3,170 years apart would use 2.6 GB of memory.
TEST(SpanOfDays, IsBounded) {
  EXPECT_FALSE(SpanOfDays({}).ok());
  EXPECT_EQ(*SpanOfDays({20'000}), 1U);
  EXPECT_EQ(*SpanOfDays({20'000, 23'659}), 3660U);
  const auto far = SpanOfDays({20'000, 20'000 + 1'157'000});
  EXPECT_TRUE(absl::IsInvalidArgument(far.status()));
  EXPECT_NE(far.status().message().find("is the time of a row wrong?"), std::string::npos) << far.status();
}

// The sums of the windows are 3, 9 and 4: usage of 12 is capped at the limit of 8 at the time of the prediction.
TEST(OraclePeak, CapsAtTheLimitOfNowAndIncludesNow) {
  PlacedTasks placed;
  placed.windows = 3;
  placed.tasks = {{"a", {2, 12, 3}, {8, 20, 8}}, {"b", {1, 1, 1}, {5, 5, 5}}};
  const std::vector<uint32_t> machine = {0, 1};
  EXPECT_DOUBLE_EQ(OraclePeak(placed, machine, 0, 3), 9);
  EXPECT_DOUBLE_EQ(OraclePeak(placed, machine, 0, 1), 3);
  EXPECT_DOUBLE_EQ(OraclePeak(placed, machine, 1, 2), 13);
}

TEST(OraclePeak, IsAbsentWhereLessThanHalfWasMeasured) {
  PlacedTasks placed;
  placed.windows = 4;
  placed.tasks = {{"a", {2, kNone, kNone, kNone}, {8, 8, 8, 8}}};
  const std::vector<uint32_t> machine = {0};
  EXPECT_LT(OraclePeak(placed, machine, 0, 4), 0);
  EXPECT_DOUBLE_EQ(OraclePeak(placed, machine, 0, 2), 2);
}

TEST(OvercommitReplay, OracleIsNeverExceededAndLimitsCapAll) {
  const PlacedTasks placed = Tasks(23, 12);
  const auto result = ReplayOvercommit(placed, ReplayOptionsOf({"limit", "borg-default", "n-sigma", "rc-like",
                                                                "machine-max", "max", "pool", "oracle"}));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->machines, 8U);
  EXPECT_EQ(result->rows.back().total.below, 0U);
  const double limit = result->rows.front().total.predicted;
  EXPECT_DOUBLE_EQ(limit, result->rows.front().total.limit);
  for (const OvercommitResult::Row& row : result->rows) {
    EXPECT_LE(row.total.predicted, limit * (1 + 1e-9)) << row.predictor;
    EXPECT_EQ(row.total.predictions, 8U * (12 * 9 + 1))
        << row.predictor;  // predictions from day 2 until 24 h before the end
    uint64_t parts = 0;
    for (const OvercommitScore& s : row.by_machine) parts += s.predictions;
    EXPECT_EQ(parts, row.total.predictions);
  }
}

// Usage from t on does not affect a prediction at t.
TEST(OvercommitReplay, DoesNotSeeTheFuture) {
  PlacedTasks placed = Tasks(10, 10);
  std::vector<double> before, after;
  for (auto* out : {&before, &after}) {
    OvercommitHooks hooks;
    hooks.on_decision = [out](const OvercommitDecision& d) {
      if (d.time_s <= 8 * kDaySeconds) out->push_back(d.predicted);
    };
    auto options = ReplayOptionsOf({"n-sigma", "rc-like", "machine-max", "pool:history=2d:min_days=2"});
    ASSERT_TRUE(ReplayOvercommit(placed, options, hooks).ok());
    for (TaskSeries& t : placed.tasks) {
      for (size_t i = 8 * kWindowsPerDay; i < placed.windows; ++i) t.usage[i] = 9;
    }
  }
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(before, after);
}

TEST(OvercommitReplay, TheSeedDecidesThePlacement) {
  PlacedTasks placed = Tasks(20, 5);
  for (size_t t = 0; t < placed.tasks.size(); ++t) {
    for (float& u : placed.tasks[t].usage) u *= static_cast<float>(t) / 20;
  }
  const auto footprints = [&](uint64_t seed) {
    OvercommitOptions o = ReplayOptionsOf({"machine-max"});
    o.seed = seed;
    std::vector<double> out;
    const absl::StatusOr<OvercommitResult> result = ReplayOvercommit(placed, o);
    for (const OvercommitScore& s : result->rows[0].by_machine) out.push_back(s.predicted);
    return out;
  };
  EXPECT_EQ(footprints(1), footprints(1));
  EXPECT_NE(footprints(1), footprints(2));
}

TEST(OvercommitReplay, SaysWhatCannotBe) {
  const PlacedTasks placed = Tasks(4, 5);
  OvercommitOptions o = ReplayOptionsOf({"limit"});
  EXPECT_EQ(
      ReplayOvercommit(placed, o).status().message(),
      "invalid number of tasks on a machine 5: expected 1 to 4, the tasks with a cpu limit that are measured "
      "throughout the trace (0 without a limit, 0 not throughout)");
  o.machine_tasks = 2;
  o.placements = 0;
  EXPECT_FALSE(ReplayOvercommit(placed, o).ok());
  o.placements = 1;
  o.settings.horizon_h = 200;
  EXPECT_EQ(ReplayOvercommit(placed, o).status().message(),
            "invalid horizon 8.333 days: expected at most the length of the trace, 5 days");
}

}  // namespace
}  // namespace taut::tools
