#include "tools/sim/soft_memory_replay.h"

#include "common/model/units.h"
#include "gtest/gtest.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

constexpr int kDays = 12;

// Returns jobs with one task and limits of 2 GiB. A task uses 300 MiB plus a wave. Every third day all tasks have
// a burst at the same time, each larger than the previous burst.
MadeDays Cell(uint32_t jobs, std::optional<int> priority = std::nullopt) {
  MadeDays days;
  for (uint32_t j = 0; j < jobs; ++j) {
    JobInfo info = Named("job" + std::to_string(j));
    info.priority = priority;
    const JobId job = days.AddJob(info);
    for (int32_t w = 0; w < kDays * kWindowsPerDay; ++w) {
      const double wave = 20 * ((w + 13 * static_cast<int32_t>(j)) % 12);
      const double burst = w % (3 * kWindowsPerDay) == 150 ? 200 + 100 * (w / kWindowsPerDay) : 0;
      const double use = (300 + wave + burst) * kMiB;
      days.PutMemory(job, w, 0, use, use);
      days.SetOwner(job, w, 1, 2048 * double{kMiB});
    }
  }
  days.Finish();
  return days;
}

SoftMemoryOptions SoftOptions() {
  SoftMemoryOptions o;
  o.machines.predictors = {"limit", "machine-max", "oracle"};
  o.machines.machine_tasks = 4;
  o.machines.warmup_s = 4 * kDaySeconds;
  o.requests = brain::Policy::kMovingWindow;
  o.shares[static_cast<size_t>(TraceTier::kBatch)] = 0.5;
  o.shares[static_cast<size_t>(TraceTier::kProduction)] = 0.5;
  return o;
}

const SoftMemoryScore::Tier& Of(TraceTier tier, const SoftMemoryScore& score) {
  return score.tiers[static_cast<size_t>(tier)];
}

TEST(SoftMemoryReplay, NoneDiesWhereTheMachineHasWhatCame) {
  MadeDays source = Cell(8);
  const auto result = ReplaySoftMemory(source, SoftOptions());
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->worlds.size(), 4U);
  EXPECT_TRUE(result->made_tiers);
  EXPECT_EQ(result->tier_tasks[static_cast<size_t>(TraceTier::kBatch)], 4U);
  const SoftMemoryScore& limit = result->worlds[1];
  EXPECT_EQ(limit.world, "limit");
  EXPECT_DOUBLE_EQ(limit.footprint(), 1);
  EXPECT_EQ(limit.total().kills, 0U);
  const SoftMemoryScore& oracle = result->worlds[3];
  EXPECT_EQ(oracle.total().kills, 0U);
  EXPECT_EQ(oracle.full, 0U);
  EXPECT_LT(oracle.footprint(), 1);
  // Each of two placements has two machines with four tasks each, for eight days.
  EXPECT_EQ(oracle.horizons, 32U);
  EXPECT_EQ(oracle.total().task_windows, 32U * 4 * kWindowsPerDay);
}

// The kills with hard limits equal the kills of `taut replay --feedback oom-restart`.
TEST(SoftMemoryReplay, HardKillsAreThoseOfTheReplay) {
  MadeDays source = Cell(8);
  SoftMemoryOptions options = SoftOptions();
  options.machines.placements = 1;
  const auto result = ReplaySoftMemory(source, options);
  ASSERT_TRUE(result.ok()) << result.status();
  ReplayOptions replay = Options({brain::Policy::kMovingWindow});
  replay.feedback = Feedback::kOomRestart;
  replay.warmup_s = options.machines.warmup_s;
  const ReplayOutcome all = Lived(source, replay);
  double ooms = 0, task_windows = 0;
  for (const Totals& t : all.result.lanes[0].per_job) {
    ooms += static_cast<double>(t.ooms);
    task_windows += t.task_windows;
  }
  EXPECT_GT(ooms, 0);
  EXPECT_EQ(static_cast<double>(result->worlds[0].total().kills), ooms);
  EXPECT_EQ(static_cast<double>(result->worlds[0].total().task_windows), task_windows);
}

TEST(SoftMemoryReplay, BatchDiesBeforeProduction) {
  MadeDays source = Cell(8);
  SoftMemoryOptions options = SoftOptions();
  options.machines.predictors = {"machine-max:factor=0.9"};
  options.machines.machine_tasks = 8;  // each machine has tasks of both tiers
  uint64_t told = 0;
  SoftMemoryHooks hooks;
  hooks.on_kill = [&](const SoftKill& k) {
    if (k.world == "hard") {
      EXPECT_GT(k.usage, k.request);
      return;
    }
    ++told;
    EXPECT_GT(k.machine_usage, k.machine_memory);
    EXPECT_EQ(k.tier, TraceTier::kBatch);
  };
  const auto result = ReplaySoftMemory(source, options, hooks);
  ASSERT_TRUE(result.ok()) << result.status();
  const SoftMemoryScore& soft = result->worlds[1];
  EXPECT_GT(Of(TraceTier::kBatch, soft).kills, 0U);
  EXPECT_EQ(Of(TraceTier::kProduction, soft).kills, 0U);
  EXPECT_GT(soft.full, 0U);
  EXPECT_EQ(told, soft.total().kills);
}

TEST(SoftMemoryReplay, TiersAreThoseOfThePriorities) {
  MadeDays source = Cell(8, 200);
  SoftMemoryOptions options = SoftOptions();
  auto result = ReplaySoftMemory(source, options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->made_tiers);
  EXPECT_EQ(result->tier_tasks[static_cast<size_t>(TraceTier::kProduction)], 8U);
  options.made_tiers = true;
  result = ReplaySoftMemory(source, options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->made_tiers);
  EXPECT_EQ(result->tier_tasks[static_cast<size_t>(TraceTier::kBatch)], 4U);
}

TEST(SoftMemoryReplay, WhatCannotBeIsNamed) {
  MadeDays source = Cell(8);
  SoftMemoryOptions options = SoftOptions();
  options.shares[1] = 0.25;
  EXPECT_EQ(ReplaySoftMemory(source, options).status().message(),
            "invalid shares of the tiers: they add up to 1.25, expected shares of 0 to 1 that add up to 1");
  options = SoftOptions();
  options.machines.predictors = {"none"};
  EXPECT_EQ(ReplaySoftMemory(source, options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SoftMemoryReplay, AnInterruptLeavesNoFigures) {
  MadeDays source = Cell(8);
  SoftMemoryHooks hooks;
  hooks.should_stop = [] { return true; };
  const auto result = ReplaySoftMemory(source, SoftOptions(), hooks);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->partial);
  EXPECT_TRUE(result->worlds.empty());
}

}  // namespace
}  // namespace taut::tools
