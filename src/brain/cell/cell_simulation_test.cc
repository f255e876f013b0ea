#include "brain/cell/cell_simulation.h"

#include <algorithm>
#include <string>

#include "common/base/random.h"
#include "common/base/strings.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;

// Builds and simulates a small cell, with amounts in whole cores and GiB.
class TimedCell {
 public:
  TimedCell() { model.resources = {{"cpu", "cores", 1}, {"memory", "GiB", 1}}; }
  TimedCell& Machine(int64_t cpu, int64_t memory) {
    model.machines.push_back({StrCat("m", model.machines.size()), {cpu, memory}, {}});
    return *this;
  }
  // Adds a job that is submitted at `at_s` and runs for `run_s` seconds; 0: until the end.
  CellJob& Job(CellTier tier, uint32_t tasks, int64_t cpu, int64_t at_s, int64_t run_s) {
    CellJob job;
    job.name = StrCat("j", model.jobs.size());
    job.tier = tier;
    job.tasks = tasks;
    job.limit = job.reservation = {cpu, 1};
    model.jobs.push_back(job);
    workload.runs.push_back({run_s == 0 ? kNoEnd : run_s * 1000, CellJobKind::kWork});
    At(at_s, CellEventKind::kSubmit, static_cast<uint32_t>(model.jobs.size() - 1));
    return model.jobs.back();
  }
  void At(int64_t s, CellEventKind kind, uint32_t id) { workload.events.push_back({s * 1000, kind, id, 0}); }
  void At(int64_t s, CellEventKind kind, uint32_t id, const CellAmounts& amounts) {
    workload.Add({s * 1000, kind, id, 0}, amounts);
  }

  // Runs the simulation and returns one line for each step, such as "10 started j0/0 m0". Stores the totals in
  // `totals`.
  std::vector<std::string> Run(int64_t end_s, CellSimulationOptions options = {}) {
    findings = *CheckCellWorkload(model, workload);
    const CellIndex index(model);
    options.end_ms = end_s * 1000;
    options.run_spread = 0;
    std::vector<std::string> steps;
    CellSimulationHooks hooks;
    hooks.on_step = [&](const CellStep& s) {
      std::string line = fmt::format("{} {} ", static_cast<double>(s.time_ms) / 1000, Name(s.kind));
      if (s.kind == CellStepKind::kSubmitted || s.kind == CellStepKind::kLimit) {
        line += model.jobs[s.id].name;
      } else if (s.kind >= CellStepKind::kOut) {
        line += model.machines[s.id].name;
      } else {
        const uint32_t job = index.job_of(s.id);
        StrAppend(&line, model.jobs[job].name, "/", s.id - index.first_task(job));
      }
      if (s.kind == CellStepKind::kStarted) StrAppend(&line, " ", model.machines[s.machine].name);
      if (s.kind == CellStepKind::kEvicted) StrAppend(&line, " ", Name(s.cause));
      steps.push_back(line);
    };
    totals = CellSimulation(model, workload, options, hooks).Run();
    return steps;
  }
  const CellTierTotals& of(CellTier tier) const { return totals.tiers[static_cast<size_t>(tier)]; }

  CellModel model;
  CellWorkload workload;
  CellTotals totals;
  std::vector<CellFinding> findings;
};

TEST(CellSimulation, JobsWaitRunAndEnd) {
  TimedCell c;
  c.Machine(4, 10);
  c.Job(CellTier::kBatch, 2, 2, 10, 100);
  c.Job(CellTier::kBatch, 1, 2, 20, 50);
  EXPECT_THAT(c.Run(1000), ElementsAre("10 submitted j0", "10 started j0/0 m0", "10 started j0/1 m0",
                                       "20 submitted j1", "110 finished j0/0", "110 finished j0/1",
                                       "110 started j1/0 m0", "160 finished j1/0"));
  const CellTierTotals& batch = c.of(CellTier::kBatch);
  EXPECT_THAT(batch.first_s, ElementsAre(0, 90));
  EXPECT_THAT(batch.all_s, ElementsAre(0, 90));
  EXPECT_EQ(batch.jobs_finished, 2U);
  EXPECT_EQ(batch.finished, 3U);
  EXPECT_NEAR(batch.task_hours, 250 / 3600.0, 1e-12);
  EXPECT_NEAR(batch.cpu_hours, 500 / 3600.0, 1e-12);
  EXPECT_EQ(batch.lost_task_hours, 0);
  EXPECT_NEAR(c.totals.mean.running, 0.25, 1e-12);
  EXPECT_NEAR(c.totals.mean.pending, 0.09, 1e-12);
}

TEST(CellSimulation, PassesAreNoCloserThanOrdered) {
  TimedCell c;
  c.Machine(4, 10);
  c.Job(CellTier::kBatch, 1, 1, 10, 0);
  c.Job(CellTier::kBatch, 1, 1, 12, 0);
  CellSimulationOptions options;
  options.pass_every_ms = 30'000;
  EXPECT_THAT(c.Run(100, options),
              ElementsAre("10 submitted j0", "10 started j0/0 m0", "12 submitted j1", "40 started j1/0 m0"));
  EXPECT_EQ(c.totals.passes, 2U);
}

TEST(CellSimulation, ATaskThatWasPreemptedStartsOverAndItsWorkIsLost) {
  TimedCell c;
  c.Machine(2, 10);
  c.Job(CellTier::kBatch, 1, 2, 0, 100);
  c.Job(CellTier::kProduction, 1, 2, 60, 40);
  EXPECT_THAT(c.Run(1000), ElementsAre("0 submitted j0", "0 started j0/0 m0", "60 submitted j1",
                                       "60 evicted j0/0 preempted", "60 started j1/0 m0", "100 finished j1/0",
                                       "100 started j0/0 m0", "200 finished j0/0"));
  const CellTierTotals& batch = c.of(CellTier::kBatch);
  EXPECT_NEAR(batch.lost_task_hours, 60 / 3600.0, 1e-12);
  EXPECT_NEAR(batch.lost_cpu_hours, 120 / 3600.0, 1e-12);
  EXPECT_THAT(batch.again_s, ElementsAre(40));
  EXPECT_EQ(batch.evictions[static_cast<size_t>(EvictionCause::kPreempted)], 1U);
  EXPECT_EQ(batch.starts, 2U);
}

TEST(CellSimulation, AServiceEndsAfterItsTimeAndLosesNoWork) {
  TimedCell c;
  c.Machine(2, 10);
  c.Job(CellTier::kMid, 1, 2, 0, 100);
  c.workload.runs[0].kind = CellJobKind::kService;
  c.Job(CellTier::kProduction, 1, 2, 60, 10);
  EXPECT_THAT(c.Run(1000), ElementsAre("0 submitted j0", "0 started j0/0 m0", "60 submitted j1",
                                       "60 evicted j0/0 preempted", "60 started j1/0 m0", "70 finished j1/0",
                                       "70 started j0/0 m0", "100 finished j0/0"));
  EXPECT_EQ(c.of(CellTier::kMid).lost_task_hours, 0);
  EXPECT_EQ(c.of(CellTier::kMid).jobs_finished, 1U);
}

TEST(CellSimulation, AFailedMachineLosesItsTasksUntilItReturns) {
  TimedCell c;
  c.Machine(2, 10);
  c.Job(CellTier::kBatch, 1, 2, 0, 100);
  c.At(30, CellEventKind::kFail, 0);
  c.At(50, CellEventKind::kReturn, 0);
  EXPECT_THAT(c.Run(1000),
              ElementsAre("0 submitted j0", "0 started j0/0 m0", "30 out m0", "30 evicted j0/0 failed",
                          "50 back m0", "50 started j0/0 m0", "150 finished j0/0"));
  EXPECT_NEAR(c.totals.machine_hours_out, 20 / 3600.0, 1e-12);
  EXPECT_EQ(c.totals.machine_failures, 1U);
}

TEST(CellSimulation, ADrainTakesOneTaskOfAJobAtATime) {
  TimedCell c;
  c.Machine(4, 10).Machine(4, 10);
  CellJob& job = c.Job(CellTier::kBatch, 3, 1, 0, 0);
  job.name = "web";
  c.Job(CellTier::kProduction, 1, 4, 1, 2000);  // this job fills machine m1 until 2,001 s
  c.At(10, CellEventKind::kDrain, 0);
  c.At(200, CellEventKind::kFail, 0);
  CellSimulationOptions options;
  options.scheduler.scoring.score = CellScore::kBestFit;
  EXPECT_THAT(c.Run(300, options),
              ElementsAre("0 submitted web", "0 started web/0 m0", "0 started web/1 m0", "0 started web/2 m0",
                          "1 submitted j1", "1 started j1/0 m1", "10 out m0", "10 evicted web/2 drained",
                          "200 evicted web/1 drained", "200 evicted web/0 drained"));
  EXPECT_EQ(c.totals.machine_drains, 1U);
  EXPECT_EQ(c.totals.machine_failures, 0U);
  EXPECT_EQ(c.of(CellTier::kBatch).pending, 3U);
  ASSERT_EQ(c.totals.pending.size(), 1U);
  EXPECT_THAT(c.totals.pending[0].why, ::testing::HasSubstr("1 out of service"));
}

TEST(CellSimulation, ARaiseEvictsLowerTiersElseMoves) {
  TimedCell c;
  c.Machine(4, 10).Machine(3, 10);
  c.Job(CellTier::kProduction, 1, 2, 0, 0);
  c.Job(CellTier::kBatch, 1, 2, 1, 0);
  c.At(10, CellEventKind::kLimit, 0, {3, 1});  // j1 must move to m1
  c.At(20, CellEventKind::kLimit, 1, {4, 1});  // the limit does not fit on m1
  c.At(30, CellEventKind::kLimit, 1, {1, 1});  // the limit fits again
  CellSimulationOptions options;
  options.scheduler.scoring.score = CellScore::kWorstFit;
  options.reclaim = false;
  EXPECT_THAT(
      c.Run(100, options),
      ElementsAre("0 submitted j0", "0 started j0/0 m0", "1 submitted j1", "1 started j1/0 m1", "10 limit j0",
                  "20 limit j1", "20 evicted j1/0 raised", "30 limit j1", "30 started j1/0 m1"));
  TimedCell d;
  d.Machine(4, 10);
  d.Job(CellTier::kProduction, 1, 2, 0, 0);
  d.Job(CellTier::kBatch, 2, 1, 1, 0);
  d.At(10, CellEventKind::kLimit, 0, {3, 1});
  EXPECT_THAT(d.Run(100, options),
              ElementsAre("0 submitted j0", "0 started j0/0 m0", "1 submitted j1", "1 started j1/0 m0",
                          "1 started j1/1 m0", "10 limit j0", "10 evicted j1/0 raised"));
}

TEST(CellSimulation, LessCapacityEvictsTheLowestTiers) {
  TimedCell c;
  c.Machine(6, 10);
  c.Job(CellTier::kProduction, 1, 2, 0, 0);
  c.Job(CellTier::kFree, 1, 2, 0, 0);
  c.Job(CellTier::kBatch, 1, 2, 0, 0);
  c.At(10, CellEventKind::kCapacity, 0, {4, 10});
  c.At(20, CellEventKind::kCapacity, 0, {1, 10});
  const std::vector<std::string> steps = c.Run(100);
  EXPECT_THAT(std::vector<std::string>(steps.end() - 5, steps.end()),
              ElementsAre("10 capacity m0", "10 evicted j1/0 capacity", "20 capacity m0",
                          "20 evicted j2/0 capacity", "20 evicted j0/0 capacity"));
}

TEST(CellSimulation, ReservationsSettleAndMakeRoom) {
  TimedCell c;
  c.Machine(8, 10);
  c.Job(CellTier::kProduction, 1, 8, 0, 0).reservation = {4, 1};
  c.Job(CellTier::kBatch, 4, 1, 1, 0);
  // The reservation of j0 falls by a quarter of 4 cores after 300 s, and by one more core each minute.
  EXPECT_THAT(c.Run(600),
              ElementsAre("0 submitted j0", "0 started j0/0 m0", "1 submitted j1", "300 started j1/0 m0",
                          "360 started j1/1 m0", "420 started j1/2 m0", "480 started j1/3 m0"));
  CellSimulationOptions options;
  options.reclaim = false;
  EXPECT_EQ(c.Run(600, options).size(), 3U);
}

TEST(CellSimulation, AGangThatDoesNotFitLeavesReservationsSettled) {
  TimedCell c;
  c.Machine(4, 10).Machine(4, 10);
  c.Job(CellTier::kBatch, 2, 4, 0, 0).reservation = {1, 1};
  c.Job(CellTier::kProduction, 3, 4, 700, 0).gang = true;
  c.Job(CellTier::kFree, 1, 3, 800, 0);
  EXPECT_THAT(c.Run(900), ElementsAre("0 submitted j0", "0 started j0/0 m0", "0 started j0/1 m1",
                                      "700 submitted j1", "800 submitted j2", "800 started j2/0 m0"));
}

TEST(CellSimulation, ATaskThatLeavesItsDomainMakesRoomOnOtherMachinesOfIt) {
  TimedCell c;
  const uint32_t rack = c.model.names.Number("rack");
  for (int m = 0; m < 40; ++m) c.Machine(4, 10);
  for (const size_t m : {0, 1}) c.model.machines[m].attributes = {{rack, c.model.names.Number("r0")}};
  CellJob& job = c.Job(CellTier::kBatch, 2, 1, 0, 0);
  job.spread_key = rack;
  job.max_per_domain = 1;
  c.At(10, CellEventKind::kFail, 0);
  EXPECT_THAT(c.Run(100), ElementsAre("0 submitted j0", "0 started j0/0 m0", "10 out m0",
                                      "10 evicted j0/0 failed", "10 started j0/0 m1"));
}

TEST(CellSimulation, StopTakesAJobAway) {
  TimedCell c;
  c.Machine(2, 10);
  c.Job(CellTier::kBatch, 2, 2, 0, 0);
  c.At(10, CellEventKind::kStop, 0);
  EXPECT_THAT(c.Run(100),
              ElementsAre("0 submitted j0", "0 started j0/0 m0", "10 removed j0/0", "10 removed j0/1"));
  EXPECT_EQ(c.of(CellTier::kBatch).removed, 2U);
  EXPECT_EQ(c.of(CellTier::kBatch).running + c.of(CellTier::kBatch).pending, 0U);
}

TEST(CellSimulation, TheWarmUpIsNotMeasured) {
  TimedCell c;
  c.Machine(2, 10);
  c.Job(CellTier::kBatch, 1, 2, 0, 100);
  c.Job(CellTier::kBatch, 1, 2, 60, 100);
  CellSimulationOptions options;
  options.warmup_ms = 50'000;
  c.Run(200, options);
  const CellTierTotals& batch = c.of(CellTier::kBatch);
  EXPECT_EQ(batch.jobs, 2U);
  EXPECT_EQ(batch.measured_jobs, 1U);
  EXPECT_THAT(batch.first_s, ElementsAre(40));
  EXPECT_NEAR(batch.task_hours, 150 / 3600.0, 1e-12);
  EXPECT_NEAR(c.totals.mean.running, 1, 1e-12);
}

TEST(CellWorkload, CountsWhatIsLeftOutByCause) {
  TimedCell c;
  c.Machine(2, 10);
  c.Job(CellTier::kBatch, 1, 2, 50, 100);
  c.Job(CellTier::kBatch, 1, 2, 20, 100);
  c.workload.events.pop_back();
  c.At(10, CellEventKind::kStop, 0);    // events out of order, and a stop before the start
  c.At(60, CellEventKind::kSubmit, 0);  // a second submission
  c.At(70, CellEventKind::kReturn, 0);
  c.At(80, CellEventKind::kFail, 0);
  c.At(81, CellEventKind::kFail, 0);
  c.At(82, CellEventKind::kDrain, 0);
  c.At(90, CellEventKind::kLimit, 1, {1, 1});
  c.At(91, CellEventKind::kLimit, 0, {9, 1});
  c.At(92, CellEventKind::kCapacity, 0, {});
  const auto findings = CheckCellWorkload(c.model, c.workload);
  ASSERT_TRUE(findings.ok()) << findings.status();
  std::vector<std::string> lines;
  for (const CellFinding& f : *findings) lines.push_back(StrCat(f.count, " ", f.cause, ": ", f.first));
  EXPECT_THAT(
      lines,
      ElementsAre("1 event out of order: sorted by time: 10.000 s, stop of j0",
                  "1 event left out: an end without a start: 10.000 s, stop of j0",
                  "1 event left out: a job that was submitted before: 60.000 s, submit of j0",
                  "1 event left out: a return of a machine that is in service: 70.000 s, return of m0",
                  "1 event left out: a failure of a machine that is down: 81.000 s, fail of m0",
                  "1 event left out: a drain of a machine that is out of service: 82.000 s, drain of m0",
                  "1 event left out: a limit of a job that was not submitted: 90.000 s, limit of j1",
                  "1 limit larger than any machine: 91.000 s, limit of j0",
                  "1 event left out: a capacity of nothing: 92.000 s, capacity of m0",
                  "1 job that no event submits: j1"));
  EXPECT_EQ(c.workload.events.size(), 3U);
  c.workload.events[0].id = 7;
  EXPECT_THAT(CheckCellWorkload(c.model, c.workload).status().message(),
              ::testing::HasSubstr("no row 7 of 2"));
}

TEST(CellDelays, QuantilesCountWhatDidNotStart) {
  std::vector<float> values = {5, 1, 3};
  EXPECT_EQ(DelayQuantile(values, 4, 0.5), 3);
  EXPECT_EQ(DelayQuantile(values, 4, 0.75), 5);
  EXPECT_EQ(DelayQuantile(values, 4, 0.9), std::nullopt);
  EXPECT_EQ(DelayQuantile({}, 0, 0.9), std::nullopt);
  const std::vector<DelayPoint> cdf = DelayCdf(values, 4);
  EXPECT_EQ(cdf.front().share, 0);
  EXPECT_EQ(cdf.back().share, 0.75);
  EXPECT_EQ(cdf[8].share, 0.25);  // element of the time 1 s
}

TEST(EventHeap, GivesTheEarliestFirst) {
  Rng rng(3);
  EventHeap heap;
  std::vector<int64_t> times;
  for (int i = 0; i < 2000; ++i) {
    times.push_back(static_cast<int64_t>(rng.Below(500)));
    heap.Push({times.back(), static_cast<uint32_t>(rng.Below(3)), static_cast<uint32_t>(i)});
  }
  std::ranges::sort(times);
  DueEvent last;
  for (const int64_t t : times) {
    ASSERT_EQ(heap.top().time_ms, t);
    ASSERT_FALSE(heap.top().Before(last));
    last = heap.top();
    heap.Pop();
  }
  EXPECT_TRUE(heap.empty());
}

}  // namespace
}  // namespace taut::brain
