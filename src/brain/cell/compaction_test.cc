#include "brain/cell/compaction.h"

#include <string>

#include "brain/cell/made_cell.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

CellModel Uniform(uint32_t machines, uint32_t tasks, int64_t millicores) {
  CellModel cell;
  cell.resources = CpuAndMemory();
  for (uint32_t m = 0; m < machines; ++m)
    cell.machines.push_back({"m" + std::to_string(m), {4000, 4000}, {}});
  CellJob job;
  job.name = "j";
  job.tasks = tasks;
  job.limit = job.reservation = {millicores, 1};
  cell.jobs.push_back(job);
  return cell;
}

TEST(Compaction, OfIdenticalTasksIsADivision) {
  const auto result = CompactCell(Uniform(50, 100, 1000), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->min, 25U);
  EXPECT_EQ(result->max, 25U);
  EXPECT_EQ(result->needed, 25U);
  EXPECT_EQ(result->trials.size(), 11U);
}

TEST(Compaction, ClonesTheCellIfItIsTooSmall) {
  const auto result = CompactCell(Uniform(10, 100, 3000), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->needed, 100U);
}

TEST(Compaction, SomeTasksMayStayPending) {
  CompactionOptions options;
  options.pending_share = 0.05;
  const auto result = CompactCell(Uniform(50, 100, 4000), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->needed, 95U);
}

TEST(Compaction, SaysWhatDoesNotFit) {
  const auto result = CompactCell(Uniform(2, 3, 4001), {});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(result.status().message()), ::testing::HasSubstr("3 of 3 tasks are pending"));
  EXPECT_THAT(std::string(result.status().message()), ::testing::HasSubstr("128 too small even if empty"));
  CompactionOptions none;
  none.trials = 0;
  EXPECT_EQ(CompactCell(Uniform(2, 3, 1), none).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Compaction, LargeJobsPreferWhatTheyAskedFor) {
  CellModel cell = Uniform(10, 6, 1000);
  cell.jobs[0].max_per_machine = 1;
  EXPECT_EQ(CompactCell(cell, {})->needed, 2U);
  EXPECT_EQ(CompactCell(cell, {})->softened, 1U);
  cell.jobs[0].tasks = 5;
  EXPECT_EQ(CompactCell(cell, {})->needed, 5U);
}

TEST(Compaction, JobsThatNoMachineCouldRunAreRemoved) {
  CellModel cell = Uniform(4, 3, 1000);
  const uint32_t zone = cell.names.Number("zone"), a = cell.names.Number("a"), b = cell.names.Number("b");
  cell.machines[2].attributes = {{zone, a}};
  const auto add = [&](std::string name, int64_t millicores, uint32_t value) {
    CellJob job = cell.jobs[0];
    job.name = std::move(name);
    job.limit = job.reservation = {millicores, 1};
    job.constraints = {{zone, {value}}};
    cell.jobs.push_back(job);
  };
  add("fits", 4000, a);
  add("large", 4001, a);
  add("nowhere", 1, b);
  RemoveImpossibleJobs(cell);
  ASSERT_EQ(cell.jobs.size(), 2U);
  EXPECT_EQ(cell.jobs[1].name, "fits");
}

TEST(Compaction, NearestRankIsTheTenthOfEleven) {
  EXPECT_EQ(NearestRank({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0.9), 10U);
  EXPECT_EQ(NearestRank({5}, 0.9), 5U);
  EXPECT_EQ(NearestRank({3, 1, 2}, 1), 3U);
}

TEST(Compaction, OfAMadeCellIsTheSameForTheSameSeed) {
  MadeCellOptions made;
  made.machines = 150;
  const CellModel cell = MakeCell(made);
  CompactionOptions options;
  options.trials = 3;
  const auto a = CompactCell(cell, options), b = CompactCell(cell, options);
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->trials, b->trials);
  EXPECT_LT(a->needed, 150U);
  EXPECT_GT(a->needed, 75U);
}

}  // namespace
}  // namespace taut::brain
