#include "brain/cell/scheduler.h"

#include <algorithm>
#include <map>

#include "brain/cell/made_cell.h"
#include "brain/cell/pending_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CellBuilder {
 public:
  CellBuilder() { cell.resources = {{"cpu", "cores", 1}, {"memory", "GiB", 1}}; }
  CellBuilder& Machine(int64_t cpu, int64_t memory, std::string_view rack = "", std::string_view model = "") {
    CellMachine m{"m" + std::to_string(cell.machines.size()), {cpu, memory}, {}};
    if (!rack.empty()) m.attributes.push_back({cell.names.Number("rack"), cell.names.Number(rack)});
    if (!model.empty()) m.attributes.push_back({cell.names.Number("model"), cell.names.Number(model)});
    cell.machines.push_back(m);
    return *this;
  }
  CellJob& Job(CellTier tier, uint32_t tasks, int64_t cpu, int64_t memory, std::string user = "u") {
    CellJob job;
    job.name = "j" + std::to_string(cell.jobs.size());
    job.user = std::move(user);
    job.tier = tier;
    job.tasks = tasks;
    job.limit = job.reservation = {cpu, memory};
    cell.jobs.push_back(job);
    return cell.jobs.back();
  }
  CellModel cell;
};

// Returns the machine of every task; -1 for a pending task.
std::vector<int> Placement(const CellScheduler& scheduler) {
  std::vector<int> out;
  for (uint32_t t = 0; t < scheduler.state().index().tasks(); ++t) {
    const uint32_t m = scheduler.state().machine_of(t);
    out.push_back(m == kNowhere ? -1 : static_cast<int>(m));
  }
  return out;
}

std::vector<int> PlaceAll(const CellModel& cell, const SchedulerOptions& options = {}) {
  const CellIndex index(cell);
  CellScheduler scheduler(index, options);
  scheduler.SubmitAll();
  scheduler.Pass();
  return Placement(scheduler);
}

SchedulerOptions With(CellScore score) {
  SchedulerOptions options;
  options.scoring.score = score;
  return options;
}

TEST(CellScheduler, BestFitFillsAndWorstFitSpreads) {
  CellBuilder b;
  b.Machine(10, 10).Machine(10, 10).Machine(4, 4);
  b.Job(CellTier::kBatch, 3, 2, 2);
  EXPECT_THAT(PlaceAll(b.cell, With(CellScore::kBestFit)), ElementsAre(2, 2, 0));
  EXPECT_THAT(PlaceAll(b.cell, With(CellScore::kWorstFit)), ElementsAre(0, 1, 0));
}

TEST(CellScheduler, HybridAvoidsStrandedMemory) {
  // Machine 0 would have the smallest sum of free amounts, but its memory would be stranded without CPU.
  CellBuilder b;
  b.Machine(4, 10).Machine(10, 10);
  b.Job(CellTier::kBatch, 1, 4, 4);
  EXPECT_THAT(PlaceAll(b.cell, With(CellScore::kBestFit)), ElementsAre(0));
  SchedulerOptions hybrid = With(CellScore::kHybrid);
  hybrid.scoring.stranded_weight = 2;
  EXPECT_THAT(PlaceAll(b.cell, hybrid), ElementsAre(1));
}

TEST(CellScheduler, ProductionCountsLimitsAndOthersReservations) {
  CellBuilder b;
  b.Machine(10, 100);
  b.Job(CellTier::kProduction, 3, 4, 1).reservation = {1, 1};
  b.Job(CellTier::kBatch, 9, 1, 1);
  // Machine 0 runs two production tasks (8 of 10 by limit, 2 by reservation) and 8 other tasks.
  EXPECT_THAT(PlaceAll(b.cell), ElementsAre(0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, -1));
}

TEST(CellScheduler, KeepsConstraintsSpreadAndOwnJobBounds) {
  CellBuilder b;
  b.Machine(10, 10, "r0", "old").Machine(10, 10, "r0", "new").Machine(10, 10, "r1", "new").Machine(10, 10);
  CellJob& picky = b.Job(CellTier::kBatch, 3, 1, 1);
  picky.constraints = {{b.cell.names.Number("model"), {b.cell.names.Number("new")}}};
  picky.spread_key = b.cell.names.Number("rack");
  picky.max_per_domain = 1;
  EXPECT_THAT(PlaceAll(b.cell), ElementsAre(1, 2, -1));
  b.cell.jobs[0].soft = true;
  EXPECT_THAT(PlaceAll(b.cell), ::testing::Each(::testing::Ge(0)));
  CellBuilder c;
  c.Machine(10, 10).Machine(10, 10);
  c.Job(CellTier::kBatch, 3, 1, 1).max_per_machine = 1;
  EXPECT_THAT(PlaceAll(c.cell), ElementsAre(0, 1, -1));
}

TEST(CellScheduler, UsersOfATierTakeTurns) {
  CellBuilder b;
  b.Machine(3, 10);
  b.Job(CellTier::kFree, 1, 1, 1, "late tier");
  for (int i = 0; i < 3; ++i) b.Job(CellTier::kBatch, 1, 1, 1, "a");
  b.Job(CellTier::kBatch, 1, 1, 1, "b");
  EXPECT_THAT(PlaceAll(b.cell), ElementsAre(-1, 0, 0, -1, 0));
}

TEST(CellScheduler, GangsRunWholeOrNotAtAll) {
  CellBuilder b;
  b.Machine(4, 10);
  b.Job(CellTier::kBatch, 5, 1, 1).gang = true;
  b.Job(CellTier::kBatch, 3, 1, 1);
  EXPECT_THAT(PlaceAll(b.cell), ElementsAre(-1, -1, -1, -1, -1, 0, 0, 0));
}

// The result of a pass on a cell in which the first job already runs.
struct AfterSecond {
  PassResult result;
  std::vector<int> placement;
};
AfterSecond SubmitInTwoPasses(const CellModel& cell, uint32_t first_jobs = 1) {
  const CellIndex index(cell);
  CellScheduler scheduler(index, {});
  for (uint32_t j = 0; j < first_jobs; ++j) scheduler.Submit(j);
  scheduler.Pass();
  scheduler.SubmitAll();
  AfterSecond out;
  out.result = scheduler.Pass();
  out.placement = Placement(scheduler);
  return out;
}

TEST(CellScheduler, PreemptsTheFewestOfTheLowestTier) {
  CellBuilder b;
  b.Machine(10, 10);
  b.Job(CellTier::kFree, 2, 1, 1);
  b.Job(CellTier::kFree, 1, 3, 3);
  b.Job(CellTier::kMid, 1, 5, 5);
  b.Job(CellTier::kProduction, 1, 3, 3);
  const AfterSecond after = SubmitInTwoPasses(b.cell, 3);
  EXPECT_THAT(after.placement, ElementsAre(0, 0, -1, 0, 0));
  EXPECT_EQ(after.result.preempted, 1U);
  EXPECT_EQ(after.result.pending, 1U);
}

TEST(CellScheduler, ProductionNeverPreemptsProduction) {
  CellBuilder b;
  b.Machine(10, 10);
  b.Job(CellTier::kProduction, 1, 10, 10);
  b.Job(CellTier::kMonitoring, 1, 1, 1);
  EXPECT_THAT(SubmitInTwoPasses(b.cell).placement, ElementsAre(0, -1));
}

TEST(CellScheduler, PreemptionDoesNotCascade) {
  // Production preempts mid on machine 0, because machine 1 lacks the attribute. Mid does not preempt batch on
  // machine 1 in the same pass.
  CellBuilder b;
  b.Machine(4, 4, "", "new").Machine(4, 4, "", "old");
  const auto on = [&](CellJob& job, std::string_view model) {
    job.constraints = {{b.cell.names.Number("model"), {b.cell.names.Number(model)}}};
  };
  b.Job(CellTier::kMid, 1, 4, 4);
  on(b.Job(CellTier::kBatch, 1, 4, 4), "old");
  on(b.Job(CellTier::kProduction, 1, 4, 4), "new");
  const CellIndex index(b.cell);
  CellScheduler scheduler(index, {});
  scheduler.Submit(0);
  scheduler.Pass();
  scheduler.Submit(1);
  scheduler.Pass();
  ASSERT_THAT(Placement(scheduler), ElementsAre(0, 1, -1));
  scheduler.Submit(2);
  EXPECT_EQ(scheduler.Pass().preempted, 1U);
  EXPECT_THAT(Placement(scheduler), ElementsAre(-1, 1, 0));
  EXPECT_EQ(scheduler.Pass().preempted, 1U);  // the preempted task may preempt in the next pass
  EXPECT_THAT(Placement(scheduler), ElementsAre(1, -1, 0));
}

TEST(CellScheduler, AGangThatDoesNotFitGivesBackWhatItPreempted) {
  CellBuilder b;
  b.Machine(4, 4).Machine(4, 4);
  b.Job(CellTier::kBatch, 2, 4, 4);
  b.Job(CellTier::kProduction, 3, 4, 4).gang = true;
  const AfterSecond after = SubmitInTwoPasses(b.cell);
  EXPECT_THAT(after.placement, ElementsAre(0, 1, -1, -1, -1));
  EXPECT_EQ(after.result.preempted, 0U);
  EXPECT_EQ(after.result.pending, 3U);
}

TEST(CellScheduler, StopFreesWhatTheJobHad) {
  CellBuilder b;
  b.Machine(4, 4);
  b.Job(CellTier::kBatch, 1, 4, 4);
  b.Job(CellTier::kBatch, 1, 4, 4);
  const CellIndex index(b.cell);
  CellScheduler scheduler(index, {});
  scheduler.SubmitAll();
  EXPECT_EQ(scheduler.Pass().placed, 1U);
  scheduler.Stop(0);
  EXPECT_EQ(scheduler.Pass().placed, 1U);
  EXPECT_THAT(Placement(scheduler), ElementsAre(-1, 0));
}

TEST(PendingReason, CountsMachinesAndNamesTheNearest) {
  CellBuilder b;
  b.Machine(10, 10, "r0", "new").Machine(10, 10, "r1", "new").Machine(10, 10, "r2", "old");
  b.Machine(2, 10, "r3", "new");
  const uint32_t rack = b.cell.names.Number("rack");
  b.Job(CellTier::kFree, 1, 8, 1).constraints = {{rack, {b.cell.names.Number("r0")}}};
  b.Job(CellTier::kProduction, 1, 1, 6).constraints = {{rack, {b.cell.names.Number("r1")}}};
  CellJob& job = b.Job(CellTier::kBatch, 1, 3, 3);
  job.constraints = {{b.cell.names.Number("model"), {b.cell.names.Number("new")}}};
  const CellIndex index(b.cell);
  SchedulerOptions options;
  options.preempt = false;
  CellScheduler scheduler(index, options);
  scheduler.Submit(1);
  scheduler.Pass();
  scheduler.Submit(0);
  scheduler.Pass();
  const PendingReason reason = ExplainPending(scheduler.scores(), 2);
  EXPECT_EQ(reason.machines, 4U);
  EXPECT_EQ(reason.no_attribute, 1U);
  EXPECT_EQ(reason.too_small, 1U);
  EXPECT_EQ(reason.no_room[0], 1U);
  EXPECT_EQ(reason.no_room[1], 0U);
  EXPECT_EQ(reason.feasible, 1U);
  EXPECT_THAT(reason.sentence, HasSubstr("1 without an attribute"));
  EXPECT_EQ(reason.sentence,
            "Of 4 machines: 1 without an attribute that the job asks for, 1 too small even if empty, 1 with "
            "too little free cpu, 1 with room. It fits on machine m0 if it asks for 1 core of cpu less, or "
            "without j0/0.");
}

// Checks invariants of a placement that hold with any options.
void CheckInvariants(const CellScheduler& scheduler) {
  const CellState& state = scheduler.state();
  const CellIndex& index = state.index();
  const CellModel& cell = index.model();
  std::vector<CellAmounts> limits(state.machines()), reserved(state.machines());
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> on_machine, in_rack;
  for (uint32_t j = 0; j < cell.jobs.size(); ++j) {
    const CellJob& job = cell.jobs[j];
    uint32_t placed = 0;
    for (uint32_t t = index.first_task(j); t < index.first_task(j + 1); ++t) {
      const uint32_t m = state.machine_of(t);
      if (m == kNowhere) continue;
      ++placed;
      for (size_t r = 0; r < kMaxCellResources; ++r) {
        reserved[m][r] += job.reservation[r];
        if (IsProduction(job.tier)) limits[m][r] += job.limit[r];
      }
      const CellMachine& machine = cell.machines[state.model_machine(m)];
      for (const CellConstraint& c : job.constraints) {
        const auto has = std::ranges::find(machine.attributes, c.key, &CellAttribute::key);
        ASSERT_NE(has, machine.attributes.end());
        ASSERT_NE(std::ranges::find(c.values, has->value), c.values.end());
      }
      if (job.max_per_machine > 0) {
        ASSERT_LE((++on_machine[{j, m}]), job.max_per_machine);
      }
      if (job.spread_key == kNoAttribute) continue;
      const auto rack = std::ranges::find(machine.attributes, job.spread_key, &CellAttribute::key);
      ASSERT_LE((++in_rack[{j, rack->value}]), job.max_per_domain);
    }
    ASSERT_TRUE(!job.gang || placed == 0 || placed == job.tasks) << job.name;
    ASSERT_TRUE(placed + scheduler.pending(j) == job.tasks || placed + scheduler.pending(j) == 0);
  }
  for (uint32_t m = 0; m < state.machines(); ++m) {
    for (size_t r = 0; r < index.resources(); ++r) {
      ASSERT_LE(limits[m][r], state.space().capacity(r, m));
      ASSERT_LE(reserved[m][r], state.space().capacity(r, m));
      ASSERT_EQ(state.space().free(r, m), state.space().capacity(r, m) - reserved[m][r]);
      ASSERT_EQ(state.space().production_free(r, m), state.space().capacity(r, m) - limits[m][r]);
    }
  }
}

// Starts and stops jobs over several passes. Returns the concatenation of all placements.
std::vector<int> History(const CellModel& cell, const SchedulerOptions& options, uint64_t seed) {
  const CellIndex index(cell);
  CellScheduler scheduler(index, options);
  Rng rng(seed);
  std::vector<int> all;
  for (int pass = 0; pass < 6; ++pass) {
    for (uint32_t j = 0; j < cell.jobs.size(); ++j) {
      if (rng.Uniform() < 0.35) scheduler.Submit(j);
      if (rng.Uniform() < 0.15) scheduler.Stop(j);
    }
    scheduler.Pass();
    CheckInvariants(scheduler);
    const std::vector<int> now = Placement(scheduler);
    all.insert(all.end(), now.begin(), now.end());
  }
  return all;
}

TEST(CellSchedulerProperty, InvariantsHoldAndOptimisationsChangeNothing) {
  Rng rng(20);
  uint64_t placed = 0, waiting = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    MadeCellOptions made;
    made.machines = 3 + static_cast<uint32_t>(rng.Below(45));
    made.production_cpu = rng.Uniform(0.3, 1.2);
    made.other_cpu = rng.Uniform(0.2, 1.2);
    made.constrained = rng.Uniform(0, 0.5);
    made.seed = seed;
    CellModel cell = MakeCell(made);
    ASSERT_TRUE(CheckCell(cell).ok());
    SchedulerOptions options = With(CellScores()[rng.Below(3)].score);
    options.preempt = rng.Uniform() < 0.7;
    options.preemption_candidates = static_cast<uint32_t>(rng.Below(5));
    const std::vector<int> plain = History(cell, options, seed);
    ASSERT_EQ(History(cell, options, seed), plain);
    for (const auto& change :
         std::vector<void (*)(SchedulerOptions&)>{[](SchedulerOptions& o) { o.equivalence_classes = false; },
                                                  [](SchedulerOptions& o) { o.cached_classes = 0; },
                                                  [](SchedulerOptions& o) { o.cached_classes = 3; }}) {
      SchedulerOptions other = options;
      change(other);
      ASSERT_EQ(History(cell, other, seed), plain) << seed;
    }
    options.enough = 1 + static_cast<uint32_t>(rng.Below(8));
    const std::vector<int> relaxed = History(cell, options, seed);
    ASSERT_EQ(History(cell, options, seed), relaxed);
    for (const int m : plain) ++(m < 0 ? waiting : placed);
  }
  EXPECT_GT(placed, 10'000U);
  EXPECT_GT(waiting, 1'000U);
}

}  // namespace
}  // namespace taut::brain
