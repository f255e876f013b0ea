#include "tools/sim/cell_runs.h"

#include <atomic>

#include "brain/cell/made_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

brain::MadeCellEvents FullCell(int machines = 60) {
  brain::MadeCellEventsOptions made;
  made.cell.machines = machines;
  made.cell.other_cpu = 0.8;
  made.days = 0.5;
  made.run_median_s = 1800;
  made.run_sigma = 1;
  made.maintenance_days = 2;
  made.failure_days = 5;
  made.changes_a_day = 5;
  return brain::MakeCellEvents(made);
}

CellRunsOptions AllSetups(int threads) {
  CellRunsOptions options;
  for (const CellSetup& s : CellSetups()) options.setups.push_back(&s);
  options.simulation.end_ms = 43'200'000;
  options.threads = threads;
  return options;
}

uint64_t Evictions(const brain::CellTotals& totals, brain::EvictionCause cause) {
  uint64_t sum = 0;
  for (const brain::CellTierTotals& t : totals.tiers) sum += t.evictions[static_cast<size_t>(cause)];
  return sum;
}

TEST(CellRuns, AreTheSameOnAnyNumberOfThreads) {
  const brain::MadeCellEvents cell = FullCell(16);  // with 60 machines, ThreadSanitizer needs a minute
  auto one = RunCells(cell.model, cell.workload, AllSetups(1));
  auto three = RunCells(cell.model, cell.workload, AllSetups(3));
  ASSERT_TRUE(one.ok() && three.ok()) << one.status() << three.status();
  ASSERT_EQ(one->size(), CellSetups().size());
  EXPECT_GT(Evictions((*one)[0].totals, brain::EvictionCause::kPreempted), 0U);
  EXPECT_GT(Evictions((*one)[0].totals, brain::EvictionCause::kRaised), 0U);
  for (size_t i = 0; i < one->size(); ++i) {
    const brain::CellTotals &a = (*one)[i].totals, &b = (*three)[i].totals;
    EXPECT_EQ(a.events, b.events);
    for (size_t t = 0; t < brain::kCellTiers; ++t) {
      EXPECT_EQ(a.tiers[t].evictions, b.tiers[t].evictions);
      EXPECT_EQ(a.tiers[t].first_s, b.tiers[t].first_s);
    }
  }
}

TEST(CellRuns, SetupsChangeWhatTheySay) {
  const brain::MadeCellEvents cell = FullCell();
  const auto runs = RunCells(cell.model, cell.workload, AllSetups(0));
  ASSERT_TRUE(runs.ok()) << runs.status();
  const auto of = [&](std::string_view name) -> const brain::CellTotals& {
    return std::ranges::find(*runs, *CellSetupByName(name), &CellRun::setup)->totals;
  };
  const brain::CellTotals& base = of("base");
  EXPECT_GT(Evictions(base, brain::EvictionCause::kPreempted), 0U);
  EXPECT_GT(Evictions(base, brain::EvictionCause::kRaised), 0U);
  EXPECT_GT(Evictions(base, brain::EvictionCause::kFailed), 0U);
  EXPECT_EQ(Evictions(of("no-preemption"), brain::EvictionCause::kPreempted), 0U);
  EXPECT_EQ(Evictions(of("owner-limits"), brain::EvictionCause::kRaised), 0U);
  EXPECT_EQ(of("owner-limits").limit_changes, 0U);
  EXPECT_EQ(Evictions(of("no-failures"), brain::EvictionCause::kFailed), 0U);
  EXPECT_EQ(Evictions(of("no-failures"), brain::EvictionCause::kDrained), 0U);
  EXPECT_EQ(of("no-failures").machine_hours_out, 0);
  // Without reclamation, less capacity is left for other tasks.
  EXPECT_GT(of("no-reclamation").mean.pending, base.mean.pending);
  EXPECT_EQ(of("hybrid").events, base.events);
}

TEST(CellRuns, CanBeStoppedAndSaySo) {
  const brain::MadeCellEvents cell = FullCell();
  CellRunsHooks hooks;
  hooks.should_stop = [] { return true; };
  std::atomic<int> told = 0;
  hooks.on_progress = [&](double share) {
    EXPECT_LE(share, 1);
    ++told;
  };
  const auto runs = RunCells(cell.model, cell.workload, AllSetups(2), hooks);
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_TRUE(runs->front().totals.partial);
  EXPECT_GT(told, 0);
}

TEST(CellRuns, NamesWhatIsWrong) {
  const brain::MadeCellEvents cell = FullCell();
  CellRunsOptions options;
  EXPECT_THAT(RunCells(cell.model, cell.workload, options).status().message(),
              ::testing::HasSubstr("invalid end in ms 0"));
  EXPECT_THAT(CellSetupByName("splt").status().message(), ::testing::HasSubstr("expected base, best-fit"));
}

}  // namespace
}  // namespace taut::tools
