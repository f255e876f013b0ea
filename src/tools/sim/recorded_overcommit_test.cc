#include "tools/sim/recorded_overcommit.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "tools/sim/machine_days.h"

namespace taut::tools {
namespace {

// A trace in which each job has one task with a limit of 10. A function returns the task's CPU usage in a window;
// negative: no row.
class Trace final : public DaySource {
 public:
  using Usage = std::function<double(uint32_t job, int32_t window)>;
  Trace(uint32_t jobs, int days, const Usage& usage) {
    for (int32_t d = 0; d < days; ++d) days_.push_back(d);
    for (uint32_t j = 0; j < jobs; ++j) jobs_.emplace_back().name = "j" + std::to_string(j);
    all_.resize(static_cast<size_t>(days));
    for (int32_t d = 0; d < days; ++d) {
      for (uint32_t j = 0; j < jobs; ++j) AddDay(d, j, usage);
    }
  }
  const std::vector<JobInfo>& jobs() const override { return jobs_; }
  const std::vector<int32_t>& days() const override { return days_; }
  int32_t last_day(JobId) const override { return days_.back(); }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override { return all_[static_cast<size_t>(day)]; }

 private:
  void AddDay(int32_t d, uint32_t j, const Usage& usage) {
    JobDay day;
    day.job = {j};
    day.day = d;
    for (int32_t w = d * kWindowsPerDay; w < (d + 1) * kWindowsPerDay; ++w) {
      const double used = usage(j, w);
      if (used < 0) continue;
      JobWindow window{.window = {w}, .first_task = static_cast<uint32_t>(day.tasks.size()), .num_tasks = 1};
      window.cpu_limit_cores = 10;
      day.windows.push_back(window);
      TaskWindow task;
      task.cpu_mean_cores = task.cpu_peak_cores = static_cast<float>(used);
      day.tasks.push_back(task);
    }
    if (!day.windows.empty()) all_[static_cast<size_t>(d)].push_back(std::move(day));
  }
  std::vector<JobInfo> jobs_;
  std::vector<int32_t> days_;
  std::vector<std::vector<JobDay>> all_;
};

OvercommitOptions RecordedOptions(std::vector<std::string> predictors) {
  OvercommitOptions o;
  o.predictors = std::move(predictors);
  o.warmup_s = kDaySeconds;
  return o;
}

void Place(brain::RecordedMachines& machines, uint32_t job, int32_t from, int32_t to, uint32_t machine) {
  for (int32_t w = from; w < to; ++w) machines.Place({job}, 0, {w}, machine);
}

// Returns the loads of a machine as "task:usage" per task, with "-" for a task that was not measured.
std::string Loads(const MachineDays& days, int32_t window, uint32_t machine) {
  std::string out;
  for (const brain::TaskLoad& t : days.Tasks(window, machine))
    out += std::to_string(t.task >> 32) + ":" + (t.measured() ? std::to_string(int(t.usage)) : "-") + " ";
  return out;
}

TEST(MachineDays, GapsAreOnTheMachineAlsoAcrossMidnight) {
  // The task has no rows in windows 286 to 289. Without rows from window 300 on, the task leaves its machine,
  // because the gap is too long.
  Trace trace(2, 2, [](uint32_t j, int32_t w) {
    if (j == 1) return 7.0;
    return (w >= 286 && w < 290) || (w >= 300 && w < 320) ? -1.0 : 3.0;
  });
  brain::RecordedMachines machines;
  const uint32_t a = machines.Number("a"), b = machines.Number("b");
  for (int32_t w = 0; w < 576; ++w) {
    if (!((w >= 286 && w < 290) || (w >= 300 && w < 320))) machines.Place({0}, 0, {w}, w < 400 ? a : b);
    machines.Place({1}, 0, {w}, a);
  }
  MachineDays days(machines, Resource::kCpu);
  for (const int32_t d : {0, 1}) {
    days.BeginDay(d);
    const auto jobs = trace.LoadDay(d);
    ASSERT_TRUE(jobs.ok());
    for (const JobDay& job : *jobs) days.Add(job);
  }
  EXPECT_EQ(days.final_until(), 0);  // day 0 is open until day 1 is read
  days.End();
  EXPECT_EQ(days.final_until(), 576);
  EXPECT_EQ(Loads(days, 285, a), "0:3 1:7 ");
  EXPECT_EQ(Loads(days, 286, a), "0:- 1:7 ");
  EXPECT_EQ(Loads(days, 289, a), "0:- 1:7 ");
  EXPECT_EQ(Loads(days, 290, a), "0:3 1:7 ");
  EXPECT_EQ(Loads(days, 310, a), "1:7 ");
  EXPECT_EQ(Loads(days, 399, a), "0:3 1:7 ");
  EXPECT_EQ(Loads(days, 400, a), "1:7 ");
  EXPECT_EQ(Loads(days, 400, b), "0:3 ");
  EXPECT_EQ(days.moves, 1U);
}

// If all tasks stay, the predictions equal those for random machines with the same tasks.
TEST(RecordedOvercommit, TasksThatStayGiveWhatMadeMachinesGive) {
  const auto usage = [](uint32_t j, int32_t w) {
    return 2 + std::sin(2 * M_PI * (w % kWindowsPerDay + 37 * int(j)) / kWindowsPerDay) + 0.01 * (w % 7);
  };
  Trace trace(6, 6, usage);
  brain::RecordedMachines machines;
  const uint32_t m = machines.Number("m");
  for (uint32_t j = 0; j < 6; ++j) Place(machines, j, 0, 6 * kWindowsPerDay, m);
  OvercommitOptions options =
      RecordedOptions({"limit", "borg-default", "n-sigma", "rc-like", "machine-percentile",
                       "machine-percentile:percentile=90:window=12h", "reservation", "reservation:margin=0.5",
                       "machine-max", "pool", "max", "oracle"});
  options.machine_tasks = 6;
  options.placements = 1;
  const auto recorded = ReplayRecordedOvercommit(trace, machines, Resource::kCpu, options);
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  const auto placed = ReadPlacedTasks(trace, Resource::kCpu);
  ASSERT_TRUE(placed.ok());
  const auto made = ReplayOvercommit(*placed, options);
  ASSERT_TRUE(made.ok()) << made.status();
  for (size_t r = 0; r < made->rows.size(); ++r) {
    const OvercommitScore& a = recorded->rows[r].total;
    const OvercommitScore& b = made->rows[r].total;
    EXPECT_EQ(a.predictions, b.predictions);
    EXPECT_EQ(a.below, b.below) << made->rows[r].predictor;
    EXPECT_NEAR(a.predicted, b.predicted, 1e-6 * b.predicted) << made->rows[r].predictor;
    EXPECT_NEAR(a.oracle, b.oracle, 1e-6 * b.oracle);
  }
}

// Job 1 moves from machine a to machine b at noon of day 2. The oracle of a includes job 1 only until then.
TEST(RecordedOvercommit, TheOracleFollowsTheTasksThatWereThere) {
  Trace trace(2, 4, [](uint32_t j, int32_t w) {
    return j == 0 ? 1.0 : w < 2 * kWindowsPerDay + 144 ? 4.0 : 9.0;
  });
  brain::RecordedMachines machines;
  const uint32_t a = machines.Number("a"), b = machines.Number("b");
  const int32_t noon = 2 * kWindowsPerDay + 144;
  Place(machines, 0, 0, 4 * kWindowsPerDay, a);
  Place(machines, 1, 0, noon, a);
  Place(machines, 1, noon, 4 * kWindowsPerDay, b);
  std::vector<std::pair<int64_t, double>> of_a, of_b;
  OvercommitHooks hooks;
  hooks.on_decision = [&](const OvercommitDecision& d) {
    (d.machine_name == "a" ? of_a : of_b).push_back({d.time_s / 300, d.oracle});
  };
  const auto result =
      ReplayRecordedOvercommit(trace, machines, Resource::kCpu, RecordedOptions({"oracle"}), hooks);
  ASSERT_TRUE(result.ok()) << result.status();
  for (const auto& [w, oracle] : of_a) EXPECT_EQ(oracle, w < noon ? 5 : 1) << w;
  ASSERT_FALSE(of_b.empty());
  EXPECT_EQ(of_b.front().first, noon + 24);  // the first prediction after a window on b
  for (const auto& [w, oracle] : of_b) EXPECT_EQ(oracle, 9) << w;
  EXPECT_EQ(result->recorded.moves, 1U);
  EXPECT_EQ(result->machines, 2U);
  EXPECT_EQ(result->tasks, 2U);
}

TEST(RecordedOvercommit, CapacityThatChangesAndWhatDoesNotFitAreCounted) {
  Trace trace(3, 3, [](uint32_t j, int32_t w) { return j == 2 && w >= 600 ? -1.0 : 6.0; });
  brain::RecordedMachines machines;
  const uint32_t a = machines.Number("a"), b = machines.Number("b"), c = machines.Number("c");
  using enum brain::MachineEventKind;
  machines.AddEvent(a, {Timestamp{0}, kAdd, 9.0, 1e9, 0});
  machines.AddEvent(a, {Timestamp::FromSeconds(700 * 300), kUpdate, 5.0, {}, 0});
  machines.AddEvent(b, {Timestamp{0}, kAdd, {}, {}, 0});
  Place(machines, 0, 0, 864, a);
  Place(machines, 1, 0, 864, b);
  Place(machines, 2, 0, 600, c);
  uint64_t odd = 0;
  machines.SettleEvents([&](std::string_view, uint32_t, const brain::MachineEvent&) { ++odd; });
  EXPECT_EQ(odd, 1U);
  const auto result = ReplayRecordedOvercommit(trace, machines, Resource::kCpu, RecordedOptions({"limit"}));
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<std::string> found;
  for (const brain::CellFinding& f : result->recorded.findings)
    found.push_back(std::to_string(f.count) + " " + f.cause);
  std::ranges::sort(found);
  EXPECT_EQ(found,
            (std::vector<std::string>{"1 capacity lowered below what is in use",
                                      "163 machine-window with more usage than capacity",
                                      "3 task with a limit above the capacity of any machine",
                                      "600 machine-window of a machine that is not in the table of machines",
                                      "864 machine-window of a machine without capacity"}));
  EXPECT_EQ(result->recorded.machine_windows, 864U * 2 + 600);
  EXPECT_EQ(result->recorded.without_capacity, 864U + 600);
  EXPECT_DOUBLE_EQ(result->recorded.capacity, 700 * 9 + 164 * 5);
  EXPECT_DOUBLE_EQ(result->recorded.limit, 864 * 10);
  // 13 predictions from day 1 on have a whole horizon. Only machine a has a known capacity.
  EXPECT_DOUBLE_EQ(result->rows[0].total.capacity, 13 * 9);
}

TEST(RecordedOvercommit, ATraceWithoutMachinesIsAnError) {
  Trace trace(1, 3, [](uint32_t, int32_t) { return 1.0; });
  const brain::RecordedMachines machines;
  const auto result = ReplayRecordedOvercommit(trace, machines, Resource::kCpu, RecordedOptions({"limit"}));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(
      result.status().message(),
      "no usage of cpu on recorded machines: 864 task-windows without a machine, 0 without an owner's limit; "
      "expected a trace whose usage names its machines, with limits");
}

}  // namespace
}  // namespace taut::tools
