// Tests of packing by the joint usage of a machine's tasks.
#include "brain/cell/machine_load.h"

#include "brain/cell/compaction.h"
#include "brain/cell/made_cell.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// Predicts the sum of the reservations, like the scheduler without a load, or the highest reservation.
class CountingLoad final : public MachineLoad {
 public:
  CountingLoad(const CellIndex& index, size_t machines, bool highest)
      : index_(index), highest_(highest), tasks_(machines) {}
  size_t resources() const override { return index_.resources(); }
  void Add(uint32_t task, uint32_t machine) override { tasks_[machine].push_back(task); }
  void Remove(uint32_t task, uint32_t machine) override { std::erase(tasks_[machine], task); }
  CellAmounts Peak(uint32_t machine) override {
    CellAmounts out = {};
    for (const uint32_t t : tasks_[machine]) Count(t, out);
    return out;
  }
  CellAmounts PeakWith(uint32_t task, uint32_t machine) override {
    CellAmounts out = Peak(machine);
    Count(task, out);
    return out;
  }

 private:
  void Count(uint32_t task, CellAmounts& out) const {
    const CellAmounts& own = index_.class_of(index_.job_of(task)).reservation;
    for (size_t r = 0; r < out.size(); ++r) out[r] = highest_ ? std::max(out[r], own[r]) : out[r] + own[r];
  }
  const CellIndex& index_;
  const bool highest_;
  std::vector<std::vector<uint32_t>> tasks_;
};

class CountingLoads final : public MachineLoads {
 public:
  explicit CountingLoads(bool highest = false) : highest_(highest) {}
  std::unique_ptr<MachineLoad> New(const CellIndex& index, size_t machines) const override {
    return std::make_unique<CountingLoad>(index, machines, highest_);
  }

 private:
  const bool highest_;
};

// A load that adds up reservations yields the placement of a scheduler without a load.
TEST(MachineLoad, TheSumOfTheReservationsPacksAsTheDefault) {
  MadeCellOptions made;
  made.machines = 60;
  made.seed = 3;
  CellModel model = MakeCell(made);
  ASSERT_TRUE(CheckCell(model).ok());
  const CellIndex index(model);
  const CountingLoads loads;
  for (const CellScore score : {CellScore::kBestFit, CellScore::kWorstFit, CellScore::kHybrid}) {
    for (const uint32_t enough : {0U, 7U}) {
      SchedulerOptions options;
      options.scoring.score = score;
      options.preempt = false;
      options.enough = enough;
      CellScheduler sums(index, options);
      options.loads = &loads;
      CellScheduler loaded(index, options);
      sums.SubmitAll();
      loaded.SubmitAll();
      EXPECT_EQ(sums.Pass().pending, loaded.Pass().pending);
      // Relaxed randomisation draws a random number for each attempted task. A scheduler without a load attempts a
      // class without room only once, so the random numbers then differ.
      if (enough > 0 && sums.pending() > 0) continue;
      size_t apart = 0;
      for (uint32_t t = 0; t < index.tasks(); ++t)
        apart += sums.state().machine_of(t) != loaded.state().machine_of(t) ? 1 : 0;
      // E-PVM multiplies powers without a load and adds exponents with a load, so that ties may differ.
      if (score == CellScore::kWorstFit) {
        EXPECT_LE(apart, index.tasks() / 50) << enough;
      } else {
        EXPECT_EQ(apart, 0U) << static_cast<int>(score) << " " << enough;
      }
    }
  }
}

CellModel Equal(uint32_t machines, uint32_t tasks, CellTier tier, bool gang = false) {
  CellModel cell;
  cell.resources = CpuAndMemory();
  for (uint32_t m = 0; m < machines; ++m)
    cell.machines.push_back({"m" + std::to_string(m), {4000, 4000}, {}});
  CellJob job;
  job.name = "j";
  job.tasks = tasks;
  job.tier = tier;
  job.gang = gang;
  job.limit = job.reservation = {1000, 1};
  cell.jobs.push_back(job);
  return cell;
}

// The joint usage of tasks is the usage of the largest task, so that all tasks fit on one machine. The limits of
// production are still added up, so that a machine runs four tasks.
TEST(MachineLoad, ProductionIsPackedByItsLimits) {
  const CountingLoads highest(true);
  CompactionOptions options;
  options.scheduler.loads = &highest;
  EXPECT_EQ(CompactCell(Equal(10, 20, CellTier::kBatch), options)->needed, 1U);
  EXPECT_EQ(CompactCell(Equal(10, 20, CellTier::kProduction), options)->needed, 5U);
}

TEST(MachineLoad, AGangThatDoesNotFitLeavesNothing) {
  const CountingLoads loads;
  const CellModel model = Equal(2, 9, CellTier::kBatch, true);
  const CellIndex index(model);
  SchedulerOptions options;
  options.preempt = false;
  options.loads = &loads;
  CellScheduler scheduler(index, options);
  scheduler.SubmitAll();
  EXPECT_EQ(scheduler.Pass().pending, 9U);
  for (uint32_t m = 0; m < 2; ++m) EXPECT_EQ(scheduler.state().first_on(m), kNowhere);
  EXPECT_LT(scheduler.scores().ScoreTask(0, 0), kInfeasible) << "the load is empty again";
  scheduler.SetInService(0, false);
  EXPECT_EQ(scheduler.scores().ScoreTask(0, 0), kInfeasible);
  CompactionOptions compaction;
  compaction.scheduler.loads = &loads;
  compaction.most_copies = 1;
  EXPECT_NE(
      CompactCell(model, compaction).status().message().find("with one of it is more than the machine has"),
      std::string::npos);
}

// PackTrial returns the packing that the search has accepted.
TEST(MachineLoad, APackingHasAllTasksOfItsTrial) {
  CellModel model = Equal(10, 20, CellTier::kBatch);
  const CellIndex index(model);
  const CountingLoads loads;
  for (const CountingLoads* l : {static_cast<const CountingLoads*>(nullptr), &loads}) {
    CompactionOptions options;
    options.scheduler.loads = l;
    const auto needed = CompactionTrial(index, options, 4);
    ASSERT_TRUE(needed.ok());
    EXPECT_EQ(*needed, 5U);
    const TrialPacking packing = PackTrial(index, options, 4, *needed);
    EXPECT_EQ(packing.machines.size(), 5U);
    std::vector<int> tasks(5);
    for (const uint32_t m : packing.machine_of_task) ++tasks.at(m);
    EXPECT_EQ(tasks, std::vector<int>(5, 4));
  }
  EXPECT_TRUE(PackTrial(index, {}, 0, 0).machines.empty());
}

}  // namespace
}  // namespace taut::brain
