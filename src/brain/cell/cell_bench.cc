// Performance budgets of the cell. 150,000 tasks are packed on 12,000 machines from scratch in 10 s. Online,
// 100,000 tasks are placed per minute, 99 % of them within 10 ms each. 11 compaction trials take 10 minutes on 2
// cores. A simulation processes 1 M events per second on one core.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "brain/cell/cell_simulation.h"
#include "brain/cell/compaction.h"
#include "brain/cell/made_cell.h"
#include "brain/cell/made_events.h"
#include "brain/cell/scheduler.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

using Clock = std::chrono::steady_clock;

CellModel LargeCell() {
  MadeCellOptions options;
  options.machines = 12'000;
  options.tasks_per_machine = 13.3;
  options.users = 500;
  return MakeCell(options);
}
const CellModel& Cell() {
  static const CellModel kCell = LargeCell();
  return kCell;
}

void Pack(benchmark::State& state) {
  const CellScoreInfo& score = CellScores()[static_cast<size_t>(state.range(0))];
  const CellIndex index(Cell());
  SchedulerOptions options;
  options.scoring.score = score.score;
  PassResult result;
  for (auto _ : state) {
    CellScheduler scheduler(index, options);
    scheduler.SubmitAll();
    result = scheduler.Pass();
  }
  state.counters["tasks"] = index.tasks();
  state.counters["pending"] = static_cast<double>(result.pending);
  state.counters["budget_s"] = 10;
  state.SetLabel(std::string(score.name));
}
BENCHMARK(Pack)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

// Benchmarks a full cell in which the jobs stop and return one by one. An iteration is one pass, which places
// one job.
void Online(benchmark::State& state) {
  const CellIndex index(Cell());
  CellScheduler scheduler(index, {});
  scheduler.SubmitAll();
  scheduler.Pass();
  Rng rng(3);
  std::vector<double> seconds;
  uint64_t placed = 0;
  for (auto _ : state) {
    const auto job = static_cast<uint32_t>(rng.Below(index.model().jobs.size()));
    scheduler.Stop(job);
    const auto begin = Clock::now();
    scheduler.Submit(job);
    placed += scheduler.Pass().placed;
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    state.SetIterationTime(seconds.back());
  }
  std::ranges::sort(seconds);
  const auto at = [&](double share) {
    return 1000 * seconds[static_cast<size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  state.SetItemsProcessed(static_cast<int64_t>(placed));
  state.counters["budget_per_s"] = 100'000.0 / 60;
  state.counters["p50_ms"] = at(0.5);
  state.counters["p99_ms"] = at(0.99);
  state.counters["max_ms"] = at(1);
  state.counters["pending"] = static_cast<double>(scheduler.pending());
  state.SetLabel("a job a pass, budget p99 10 ms");
}
BENCHMARK(Online)->Iterations(5000)->UseManualTime()->Unit(benchmark::kMicrosecond);

// Benchmarks a simulation; the arguments are machines and hours. Events are counted as in CellTotals::events.
void Simulate(benchmark::State& state) {
  MadeCellEventsOptions made;
  made.cell.machines = static_cast<uint32_t>(state.range(0));
  made.days = static_cast<double>(state.range(1)) / 24;
  const MadeCellEvents cell = MakeCellEvents(made);
  CellSimulationOptions options;
  options.end_ms = state.range(1) * 3'600'000;
  options.warmup_ms = options.end_ms / 4;
  CellTotals totals;
  double seconds = 0;
  uint64_t events = 0;
  for (auto _ : state) {
    const auto begin = Clock::now();
    totals = CellSimulation(cell.model, cell.workload, options).Run();
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    state.SetIterationTime(seconds);
    events += totals.events;
  }
  state.counters["events"] = static_cast<double>(totals.events);
  state.SetItemsProcessed(static_cast<int64_t>(events));
  state.counters["budget_per_s"] = 1e6;
  state.counters["passes"] = static_cast<double>(totals.passes);
  state.counters["tasks"] = static_cast<double>(cell.model.tasks());
  state.counters["pending"] = totals.mean.pending;
}
BENCHMARK(Simulate)
    ->Args({1000, 48})
    ->Args({12'000, 12})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);

// Runs one of the 11 trials, whose run times are about equal.
void Trial(benchmark::State& state) {
  CompactionOptions options;
  options.trials = 1;
  for (auto _ : state) {
    const auto result = CompactCell(Cell(), options);
    state.counters["machines"] = result.ok() ? result->needed : -1;
  }
  state.counters["budget_s"] = 2 * 600.0 / 11;
}
BENCHMARK(Trial)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace taut::brain
