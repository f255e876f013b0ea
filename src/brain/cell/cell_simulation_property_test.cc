// Tests invariants that hold in every run of a cell at every time.
#include <array>
#include <tuple>

#include "brain/cell/cell_simulation.h"
#include "brain/cell/made_events.h"
#include "common/base/random.h"
#include "common/testing/test_scale.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// Checks all invariants of the current state.
void CheckNow(const CellSimulation& simulation) {
  const CellScheduler& scheduler = simulation.scheduler();
  const CellState& state = scheduler.state();
  const CellIndex& index = state.index();
  std::array<uint64_t, kCellTiers> running = {}, pending = {};
  for (uint32_t j = 0; j < index.model().jobs.size(); ++j) {
    const CellJob& job = index.model().jobs[j];
    uint32_t placed = 0, finished = 0;
    for (uint32_t t = index.first_task(j); t < index.first_task(j + 1); ++t) {
      placed += state.machine_of(t) != kNowhere ? 1 : 0;
      finished += scheduler.Finished(t) ? 1 : 0;
      ASSERT_FALSE(state.machine_of(t) != kNowhere && scheduler.Finished(t));
    }
    running[static_cast<size_t>(job.tier)] += placed;
    pending[static_cast<size_t>(job.tier)] += scheduler.pending(j);
    if (placed + scheduler.pending(j) > 0) {
      ASSERT_EQ(placed + scheduler.pending(j) + finished, job.tasks);
    }
    ASSERT_TRUE(!job.gang || placed == 0 || placed + finished == job.tasks) << job.name;
  }
  for (size_t t = 0; t < kCellTiers; ++t) {
    const CellTierTotals& totals = simulation.totals().tiers[t];
    ASSERT_EQ(totals.tasks, totals.finished + totals.removed + running[t] + pending[t]);
  }
  std::vector<CellAmounts> limits(state.machines()), counted(state.machines());
  for (uint32_t m = 0; m < state.machines(); ++m) {
    for (uint32_t t = state.first_on(m); t != kNowhere; t = state.next_on(t)) {
      const uint32_t job = index.job_of(t);
      for (size_t r = 0; r < kMaxCellResources; ++r) {
        counted[m][r] += state.counted(t)[r];
        if (IsProduction(index.model().jobs[job].tier)) limits[m][r] += index.class_of(job).limit[r];
      }
    }
    for (size_t r = 0; r < index.resources(); ++r) {
      ASSERT_LE(counted[m][r], state.space().capacity(r, m));
      ASSERT_LE(limits[m][r], state.space().capacity(r, m));
      ASSERT_EQ(state.space().free(r, m), state.space().capacity(r, m) - counted[m][r]);
      ASSERT_EQ(state.space().production_free(r, m), state.space().capacity(r, m) - limits[m][r]);
    }
  }
}

// An autoscaler that sets limits and kills tasks at random.
class RandomLimits final : public CellAutoscaler {
 public:
  RandomLimits(const CellModel& model, uint64_t seed) : model_(model), rng_(seed) {}
  Decision Close(uint32_t job, const Window& window) override {
    Decision out;
    if (rng_.Uniform() < 0.01) out.kills = 1 + static_cast<uint32_t>(rng_.Below(window.running));
    if (rng_.Uniform() > 0.02) return out;
    out.limit = model_.jobs[job].limit;
    for (int64_t& l : *out.limit) l = static_cast<int64_t>(static_cast<double>(l) * rng_.Uniform(0.5, 1.3));
    return out;
  }

 private:
  const CellModel& model_;
  Rng rng_;
};

MadeCellEvents SmallRun(uint64_t seed, Rng& rng) {
  MadeCellEventsOptions made;
  made.cell.machines = 40 + static_cast<uint32_t>(rng.Below(20));
  made.cell.tasks_per_machine = 3;
  made.cell.production_cpu = rng.Uniform(0.3, 0.9);
  made.cell.other_cpu = rng.Uniform(0.3, 0.9);
  made.cell.seed = seed;
  made.days = 0.4;
  made.run_median_s = 1800;
  made.run_sigma = 1;
  made.service_median_h = 3;
  made.failure_days = 2;
  made.repair_h = 1;
  made.maintenance_days = 1;
  made.changes_a_day = 8;
  made.change_sigma = 0.3;
  MadeCellEvents out = MakeCellEvents(made);
  // Adds changes of capacity and stops of jobs.
  for (int i = 0; i < 20; ++i) {
    const auto at = static_cast<int64_t>(0.4 * 86'400'000 * rng.Uniform());
    const auto machine = static_cast<uint32_t>(rng.Below(out.model.machines.size()));
    CellAmounts capacity = out.model.machines[machine].capacity;
    for (int64_t& c : capacity) c = static_cast<int64_t>(static_cast<double>(c) * rng.Uniform(0.5, 1.1));
    out.workload.Add({at, CellEventKind::kCapacity, machine, 0}, capacity);
    const auto job = static_cast<uint32_t>(rng.Below(out.model.jobs.size()));
    out.workload.events.push_back({at, CellEventKind::kStop, job, 0});
  }
  EXPECT_TRUE(CheckCell(out.model).ok());
  EXPECT_TRUE(CheckCellWorkload(out.model, out.workload).ok());
  return out;
}

TEST(CellSimulationProperty, NothingIsLostAndNoMachineIsOverItsCapacity) {
  Rng rng(7);
  std::array<uint64_t, kEvictionCauses> evictions = {};
  for (int seed = 1; seed <= Scaled(12); ++seed) {
    const MadeCellEvents made = SmallRun(seed, rng);
    CellSimulationOptions options;
    options.end_ms = 34'560'000;
    options.scheduler.scoring.score = CellScores()[rng.Below(3)].score;
    options.scheduler.preempt = rng.Uniform() < 0.8;
    options.reclaim = rng.Uniform() < 0.8;
    options.seed = seed;
    // A production task loses its machine only by a failure, a drain, a raise of its own limit or a lower
    // capacity, but never to another task.
    CellSimulationHooks hooks;
    RandomLimits limits(made.model, seed);
    hooks.autoscaler = &limits;
    const CellIndex index(made.model);
    uint64_t steps = 0;
    hooks.on_step = [&](const CellStep& s) {
      if (s.kind != CellStepKind::kEvicted || s.cause != EvictionCause::kPreempted) return;
      ASSERT_FALSE(IsProduction(made.model.jobs[index.job_of(s.id)].tier));
      ++steps;
    };
    CellSimulation simulation(made.model, made.workload, options, hooks);
    for (int i = 0; simulation.Step(); ++i) {
      if (i % 5 == 0) CheckNow(simulation);
      if (testing::Test::HasFatalFailure()) return;
    }
    CheckNow(simulation);
    const CellTotals totals = simulation.Finish();
    for (const CellTierTotals& t : totals.tiers) {
      ASSERT_EQ(t.tasks, t.finished + t.removed + t.running + t.pending);
      for (size_t c = 0; c < kEvictionCauses; ++c) evictions[c] += t.evictions[c];
    }
  }
  for (const uint64_t count : evictions) EXPECT_GT(static_cast<int>(count), Scaled(20));
}

TEST(CellSimulationProperty, TheSameInputGivesTheSameStepsAndOptimisationsChangeNothing) {
  Rng rng(9);
  for (int seed = 1; seed <= Scaled(4); ++seed) {
    const MadeCellEvents made = SmallRun(seed, rng);
    const auto steps = [&](bool optimised) {
      CellSimulationOptions options;
      options.end_ms = 34'560'000;
      options.scheduler.equivalence_classes = optimised;
      std::vector<std::tuple<int64_t, CellStepKind, uint32_t, uint32_t>> out;
      CellSimulationHooks hooks;
      RandomLimits limits(made.model, seed);
      hooks.autoscaler = &limits;
      hooks.on_step = [&](const CellStep& s) { out.emplace_back(s.time_ms, s.kind, s.id, s.machine); };
      CellSimulation(made.model, made.workload, options, hooks).Run();
      return out;
    };
    const auto once = steps(true);
    ASSERT_GT(once.size(), 1000U);
    ASSERT_TRUE(once == steps(true));
    ASSERT_TRUE(once == steps(false)) << seed;
  }
}

TEST(MadeCellEvents, AreTheSameForASeedAndFindNothing) {
  MadeCellEventsOptions options;
  options.cell.machines = 60;
  options.days = 1;
  MadeCellEvents one = MakeCellEvents(options);
  const MadeCellEvents two = MakeCellEvents(options);
  ASSERT_EQ(one.workload.events.size(), two.workload.events.size());
  for (size_t i = 0; i < one.workload.events.size(); ++i) {
    ASSERT_EQ(one.workload.events[i].time_ms, two.workload.events[i].time_ms);
    ASSERT_EQ(one.workload.events[i].id, two.workload.events[i].id);
  }
  const auto cell = CheckCell(one.model);
  const auto events = CheckCellWorkload(one.model, one.workload);
  ASSERT_TRUE(cell.ok() && events.ok());
  EXPECT_TRUE(cell->empty());
  EXPECT_TRUE(events->empty()) << events->front().cause << events->front().first;
}

}  // namespace
}  // namespace taut::brain
