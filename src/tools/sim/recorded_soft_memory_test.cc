#include "tools/sim/recorded_soft_memory.h"

#include <map>
#include <tuple>

#include "common/model/units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

using enum brain::MachineEventKind;

constexpr double kM = kMiB;
constexpr int kTraceDays = 12;

// Returns days with one job per function. Each job has one task with a limit of 2 GiB. The function returns the
// task's usage in MiB in a window; negative: the task is absent.
MadeDays JobsUsing(const std::vector<std::function<double(int32_t)>>& usages,
                   std::optional<int> priority = std::nullopt, int days = kTraceDays) {
  MadeDays out;
  for (size_t j = 0; j < usages.size(); ++j) {
    JobInfo info = Named("job" + std::to_string(j));
    info.priority = priority;
    const JobId job = out.AddJob(info);
    for (int32_t w = 0; w < days * kWindowsPerDay; ++w) {
      const double use = usages[j](w) * kM;
      if (use < 0) continue;
      out.PutMemory(job, w, 0, use, use);
      out.SetOwner(job, w, 1, 2048 * kM);
    }
  }
  out.Finish();
  return out;
}

// Returns the usage of job j: 300 MiB plus a wave. Every third day all jobs have a burst at the same time.
std::function<double(int32_t)> Wave(int j) {
  return [j](int32_t w) {
    const double burst = w % (3 * kWindowsPerDay) == 150 ? 200 + 100 * (w / kWindowsPerDay) : 0;
    return 300 + 20 * ((w + 13 * j) % 12) + burst;
  };
}

SoftMemoryOptions SoftRecorded(std::vector<std::string> predictors) {
  SoftMemoryOptions o;
  o.machines.predictors = std::move(predictors);
  o.machines.machine_tasks = 4;
  o.machines.placements = 1;
  o.machines.warmup_s = 4 * kDaySeconds;
  o.requests = brain::Policy::kMovingWindow;
  o.shares[static_cast<size_t>(TraceTier::kBatch)] = 1;
  return o;
}

void StayOn(brain::RecordedMachines& machines, uint32_t job, int32_t from, int32_t to, uint32_t machine) {
  for (int32_t w = from; w < to; ++w) machines.Place({job}, 0, {w}, machine);
}

const SoftMemoryScore::Tier& ScoreOf(TraceTier tier, const SoftMemoryScore& score) {
  return score.tiers[static_cast<size_t>(tier)];
}

// Tasks that stay on one machine without a known capacity are killed exactly as on a random machine with the same
// tasks.
TEST(RecordedSoftMemory, TasksThatStayGiveWhatMadeMachinesGive) {
  MadeDays source = JobsUsing({Wave(0), Wave(1), Wave(2), Wave(3)});
  brain::RecordedMachines machines;
  const uint32_t m = machines.Number("m");
  for (uint32_t j = 0; j < 4; ++j) StayOn(machines, j, 0, kTraceDays * kWindowsPerDay, m);
  const SoftMemoryOptions options =
      SoftRecorded({"limit", "machine-max:factor=0.9", "n-sigma", "reservation", "oracle"});
  const auto made = ReplaySoftMemory(source, options);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto recorded = ReplayRecordedSoftMemory(source, machines, options);
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_TRUE(recorded->of_recorded);
  EXPECT_EQ(recorded->machines, 1U);
  EXPECT_EQ(recorded->tasks, 4U);
  ASSERT_EQ(recorded->worlds.size(), made->worlds.size());
  uint64_t soft_kills = 0;
  for (size_t i = 0; i < made->worlds.size(); ++i) {
    const SoftMemoryScore &a = recorded->worlds[i], &b = made->worlds[i];
    EXPECT_EQ(a.world, b.world);
    EXPECT_NEAR(a.memory, b.memory, 1e-6 * b.memory) << a.world;
    EXPECT_EQ(a.owner, b.owner);
    EXPECT_EQ(a.total().kills, b.total().kills) << a.world;
    EXPECT_EQ(a.total().within_request, b.total().within_request) << a.world;
    EXPECT_EQ(a.total().task_windows, b.total().task_windows) << a.world;
    EXPECT_EQ(a.total().lost_windows, b.total().lost_windows) << a.world;
    EXPECT_EQ(a.full, b.full) << a.world;
    EXPECT_EQ(a.horizons, b.horizons) << a.world;
    soft_kills += i > 0 ? a.total().kills : 0;
  }
  EXPECT_GT(made->worlds[0].total().kills, 0U);
  EXPECT_GT(soft_kills, 0U);
  EXPECT_EQ(recorded->recorded.without_capacity, uint64_t{kTraceDays} * kWindowsPerDay);
}

// Two tasks of 400 MiB run on a machine of 1,000 MiB, which has only 700 MiB for two days. One task is killed, and
// restarts when the machine has 1,000 MiB again. The limits alone would permit 4 GiB.
TEST(RecordedSoftMemory, MemoryIsAtMostTheCapacityWhichChanges) {
  const auto steady = [](int32_t) { return 400.0; };
  MadeDays source = JobsUsing({steady, steady});
  brain::RecordedMachines machines;
  const uint32_t m = machines.Number("m");
  const int32_t lower = 7 * kWindowsPerDay + 5, higher = 9 * kWindowsPerDay + 50;
  const auto at = [](int32_t window) { return Timestamp::FromSeconds(int64_t{window} * kWindowSeconds); };
  machines.AddEvent(m, {Timestamp{0}, kAdd, 4.0, 1000 * kM, 0});
  machines.AddEvent(m, {at(lower), kUpdate, {}, 700 * kM, 0});
  machines.AddEvent(m, {at(higher), kUpdate, {}, 1000 * kM, 0});
  machines.SettleEvents([](std::string_view, uint32_t, const brain::MachineEvent&) {});
  for (uint32_t j = 0; j < 2; ++j) StayOn(machines, j, 0, kTraceDays * kWindowsPerDay, m);
  std::vector<std::tuple<int64_t, double, double>> kills;
  SoftMemoryHooks hooks;
  hooks.on_kill = [&](const SoftKill& k) {
    EXPECT_EQ(k.world, "limit");
    EXPECT_EQ(k.machine_name, "m");
    EXPECT_EQ(k.usage, 400 * kM);
    kills.emplace_back(k.time_s / kWindowSeconds, k.machine_usage / kM, k.machine_memory / kM);
  };
  const auto result = ReplayRecordedSoftMemory(source, machines, SoftRecorded({"limit"}), hooks);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(kills, testing::ElementsAre(std::tuple(lower, 800.0, 700.0)));
  const SoftMemoryScore& limit = result->worlds[1];
  EXPECT_EQ(limit.total().within_request, 1U);
  EXPECT_EQ(limit.total().lost_windows, static_cast<uint64_t>(higher - lower - 1));
  EXPECT_EQ(limit.full, 1U);
  EXPECT_DOUBLE_EQ(limit.memory / kM, 8.0 * kWindowsPerDay * 1000 - 300.0 * (higher - lower));
  EXPECT_DOUBLE_EQ(limit.owner / kM, 8 * 4096.0 * kWindowsPerDay);
  std::vector<std::string> found;
  for (const brain::CellFinding& f : result->recorded.findings)
    found.push_back(std::to_string(f.count) + " " + f.cause);
  EXPECT_THAT(found, testing::UnorderedElementsAre(
                         "1 capacity lowered below what is in use",
                         std::to_string(higher - lower - 1) + " machine-window with more usage than capacity",
                         "2 task with a limit above the capacity of any machine"));
}

// A task that moves continues to wait on its new machine. The memory of this machine includes the task's limit
// until the next horizon.
TEST(RecordedSoftMemory, AKilledTaskWaitsWhereTheTraceHasIt) {
  constexpr int32_t kill = 5 * kWindowsPerDay + 60, move = kill + 2;
  MadeDays source =
      JobsUsing({[](int32_t w) { return w == kill ? 900.0 : 300.0; }, [](int32_t) { return 300.0; }});
  brain::RecordedMachines machines;
  const uint32_t a = machines.Number("a"), b = machines.Number("b");
  StayOn(machines, 0, 0, move, a);
  StayOn(machines, 0, move, kTraceDays * kWindowsPerDay, b);
  StayOn(machines, 1, 0, kTraceDays * kWindowsPerDay, b);
  std::map<std::string, uint64_t> kills;
  SoftMemoryHooks hooks;
  hooks.on_kill = [&](const SoftKill& k) {
    ++kills[std::string(k.world) + " " + std::string(k.machine_name)];
    if (k.world == "machine-max") {
      EXPECT_EQ(k.machine_memory, 300 * kM);  // highest usage of the machine's tasks until then
    }
  };
  const auto result = ReplayRecordedSoftMemory(source, machines, SoftRecorded({"machine-max"}), hooks);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(kills, (std::map<std::string, uint64_t>{{"hard a", 1}, {"machine-max a", 1}}));
  const SoftMemoryScore& soft = result->worlds[1];
  // The task loses the two windows of the restart delay. Machine b has room at once, because its memory includes
  // the task's limit.
  EXPECT_EQ(soft.total().lost_windows, 2U);
  EXPECT_EQ(result->recorded.moves, 1U);
  // From the task's arrival to the end of the horizon, machine b has 300 MiB plus the task's 2 GiB.
  const double horizon = kWindowsPerDay, left = 6 * kWindowsPerDay - move;
  const double day4 = 600 * horizon, day5 = (move - 5 * kWindowsPerDay) * 600.0 + left * (300 + 2048.0);
  EXPECT_GT(soft.memory / kM, day4 + day5);
  EXPECT_EQ(soft.horizons, 2U * 2 + 6);  // machine a has no tasks from day 6 on
}

// If a job arrives on a new machine within a horizon, the machine's memory is the job's limit until the next
// horizon.
TEST(RecordedSoftMemory, AMachineThatComesHasTheLimits) {
  constexpr int32_t comes = 6 * kWindowsPerDay + 100;
  MadeDays source =
      JobsUsing({[](int32_t) { return 300.0; }, [](int32_t w) { return w < comes ? -1.0 : 500.0; }});
  brain::RecordedMachines machines;
  const uint32_t a = machines.Number("a"), b = machines.Number("b");
  StayOn(machines, 0, 0, kTraceDays * kWindowsPerDay, a);
  StayOn(machines, 1, comes, kTraceDays * kWindowsPerDay, b);
  const auto result = ReplayRecordedSoftMemory(source, machines, SoftRecorded({"machine-max", "oracle"}));
  ASSERT_TRUE(result.ok()) << result.status();
  const double windows_a = 8.0 * kWindowsPerDay, until_next = 7 * kWindowsPerDay - comes;
  const double rest = 5.0 * kWindowsPerDay;
  EXPECT_DOUBLE_EQ(result->worlds[1].memory / kM, windows_a * 300 + until_next * 2048 + rest * 500);
  EXPECT_DOUBLE_EQ(result->worlds[2].memory / kM, windows_a * 300 + (until_next + rest) * 500);
  EXPECT_EQ(result->worlds[1].horizons, 8U + 6);
  EXPECT_EQ(result->worlds[2].total().kills, 0U);
}

TEST(RecordedSoftMemory, TiersAreThoseOfThePrioritiesOrDrawnTaskByTask) {
  MadeDays source = JobsUsing({Wave(0), Wave(1)}, 200);
  brain::RecordedMachines machines;
  const uint32_t m = machines.Number("m");
  for (uint32_t j = 0; j < 2; ++j) StayOn(machines, j, 0, kTraceDays * kWindowsPerDay, m);
  SoftMemoryOptions options = SoftRecorded({"machine-max:factor=0.9"});
  auto result = ReplayRecordedSoftMemory(source, machines, options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->made_tiers);
  EXPECT_EQ(result->tier_tasks[static_cast<size_t>(TraceTier::kProduction)], 2U);
  EXPECT_GT(ScoreOf(TraceTier::kProduction, result->worlds[1]).kills, 0U);
  options.made_tiers = true;
  result = ReplayRecordedSoftMemory(source, machines, options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->made_tiers);
  EXPECT_EQ(result->tier_tasks[static_cast<size_t>(TraceTier::kBatch)], 2U);
}

TEST(RecordedSoftMemory, WhatCannotBeIsNamed) {
  MadeDays source = JobsUsing({Wave(0)});
  brain::RecordedMachines machines;
  EXPECT_THAT(
      ReplayRecordedSoftMemory(source, machines, SoftRecorded({"limit"})).status().message(),
      testing::HasSubstr("no usage of memory on recorded machines: 3456 task-windows without a machine"));
  SoftMemoryOptions options = SoftRecorded({"limit"});
  options.shares[1] = 0.25;
  EXPECT_THAT(ReplayRecordedSoftMemory(source, machines, options).status().message(),
              testing::HasSubstr("they add up to 1.25"));
  options = SoftRecorded({"none"});
  EXPECT_EQ(ReplayRecordedSoftMemory(source, machines, options).status().code(),
            absl::StatusCode::kInvalidArgument);
  SoftMemoryHooks hooks;
  hooks.should_stop = [] { return true; };
  const auto stopped = ReplayRecordedSoftMemory(source, machines, SoftRecorded({"limit"}), hooks);
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  EXPECT_TRUE(stopped->partial);
  EXPECT_TRUE(stopped->worlds.empty());
}

}  // namespace
}  // namespace taut::tools
