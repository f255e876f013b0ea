#include "tools/sim/cell_autoscaler.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

// A cell of two machines with one service of two tasks and one kWork job.
struct ServiceCell {
  ServiceCell() {
    model.resources = brain::CpuAndMemory();
    for (const char* name : {"m0", "m1"}) model.machines.push_back({name, {16'000, int64_t{64} << 30}, {}});
    for (const brain::CellJobKind kind : {brain::CellJobKind::kService, brain::CellJobKind::kWork}) {
      brain::CellJob job;
      job.name = kind == brain::CellJobKind::kService ? "web" : "crawl";
      job.tier =
          kind == brain::CellJobKind::kService ? brain::CellTier::kProduction : brain::CellTier::kBatch;
      job.tasks = 2;
      job.limit = {4000, int64_t{16} << 30};
      job.reservation = {2000, int64_t{8} << 30};
      workload.events.push_back(
          {0, brain::CellEventKind::kSubmit, static_cast<uint32_t>(model.jobs.size()), 0});
      model.jobs.push_back(job);
      workload.runs.push_back({brain::kNoEnd, kind});
    }
  }
  brain::CellModel model;
  brain::CellWorkload workload;
};

constexpr brain::CellAutoscaler::Window WindowOf(int64_t number, brain::CellAmounts limit) {
  return {(number + 1) * brain::kCellWindowMs, 2, limit};
}

TEST(CellLimits, FollowUsageAfterEnoughHistory) {
  const ServiceCell cell;
  CellLimits limits(cell.model, cell.workload, brain::Policy::kMovingWindow, 1);
  brain::CellAmounts limit = cell.model.jobs[0].limit;
  for (int64_t w = 0; w < 70; ++w) ASSERT_FALSE(limits.Close(0, WindowOf(w, limit)).limit.has_value()) << w;
  int changes = 0, kills = 0;
  for (int64_t w = 70; w < 3 * kWindowsPerDay; ++w) {
    const brain::CellAutoscaler::Decision d = limits.Close(0, WindowOf(w, limit));
    kills += static_cast<int>(d.kills);
    if (!d.limit.has_value()) continue;
    ++changes;
    limit = *d.limit;
  }
  // Usage is 55 to 80 % of the reservation, times the daily cycle, so limits below 4 cores are expected.
  EXPECT_GT(changes, 0);
  EXPECT_LT(changes, 60);
  EXPECT_LT(kills, 10);
  EXPECT_GT(limit[brain::kCellCpu], 1100);
  EXPECT_LT(limit[brain::kCellCpu], 3000);
  EXPECT_GT(limit[brain::kCellMemory], int64_t{4} << 30);
  EXPECT_LT(limit[brain::kCellMemory], int64_t{14} << 30);
}

TEST(CellLimits, ATaskOverItsMemoryIsKilledAndTheLimitRaised) {
  const ServiceCell cell;
  CellLimits limits(cell.model, cell.workload, brain::Policy::kMovingWindow, 1);
  brain::CellAmounts limit = cell.model.jobs[0].limit;
  for (int64_t w = 0; w < kWindowsPerDay; ++w) {
    if (const auto d = limits.Close(0, WindowOf(w, limit)); d.limit.has_value()) limit = *d.limit;
  }
  const brain::CellAmounts low = {limit[brain::kCellCpu], int64_t{2} << 30};
  const brain::CellAutoscaler::Decision d = limits.Close(0, WindowOf(kWindowsPerDay, low));
  EXPECT_EQ(d.kills, 1U);
  ASSERT_TRUE(d.limit.has_value());
  EXPECT_GT((*d.limit)[brain::kCellMemory], low[brain::kCellMemory]);
}

TEST(CellLimits, LeaveWorkAlone) {
  const ServiceCell cell;
  CellLimits limits(cell.model, cell.workload, brain::Policy::kPeak, 1);
  for (int64_t w = 0; w < kWindowsPerDay; ++w)
    ASSERT_FALSE(limits.Close(1, WindowOf(w, {1, 1})).limit.has_value());
}

TEST(CellLimits, ActInTheSimulation) {
  ServiceCell cell;
  CellLimits limits(cell.model, cell.workload, brain::Policy::kMovingWindow, 5);
  brain::CellSimulationOptions options;
  options.end_ms = 3 * 86'400'000;
  brain::CellSimulationHooks hooks;
  hooks.autoscaler = &limits;
  uint64_t kills = 0;
  hooks.on_step = [&](const brain::CellStep& s) {
    if (s.kind == brain::CellStepKind::kEvicted && s.cause == brain::EvictionCause::kOom) ++kills;
    EXPECT_TRUE(s.kind != brain::CellStepKind::kEvicted || s.id < 2);
  };
  const brain::CellTotals totals = brain::CellSimulation(cell.model, cell.workload, options, hooks).Run();
  const brain::CellTierTotals& production = totals.tiers[static_cast<size_t>(brain::CellTier::kProduction)];
  EXPECT_GT(totals.limit_changes, 0U);
  EXPECT_GT(kills, 0U);
  EXPECT_EQ(production.evictions[static_cast<size_t>(brain::EvictionCause::kOom)], kills);
  EXPECT_EQ(production.running, 2U);
  // Initially, the two tasks have limits of 4 cores each.
  EXPECT_LT(totals.mean.production_limit[brain::kCellCpu], 7000);
}

}  // namespace
}  // namespace taut::tools
