#include "brain/cell/cell_experiments.h"

#include "brain/cell/made_cell.h"
#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kGiBBytes = static_cast<int64_t>(kGiB);

CellModel Small() {
  CellModel cell;
  cell.resources = CpuAndMemory();
  cell.machines = {{"m0", {6000, 24 * kGiBBytes}, {}}, {"m1", {12'000, 40 * kGiBBytes}, {}}};
  const auto add = [&cell](std::string user, CellTier tier, uint32_t tasks, CellAmounts limit) {
    CellJob job;
    job.name = "j" + std::to_string(cell.jobs.size());
    job.user = std::move(user);
    job.tier = tier;
    job.tasks = tasks;
    job.limit = limit;
    job.reservation = {limit[0] / 2, limit[1]};
    cell.jobs.push_back(job);
  };
  add("a", CellTier::kProduction, 2, {1200, 3 * kGiBBytes});
  add("b", CellTier::kBatch, 1, {1200, 3 * kGiBBytes});
  add("a", CellTier::kProduction, 1, {9000, 3 * kGiBBytes});
  add("c", CellTier::kFree, 3, {100, kGiBBytes / 3});
  return cell;
}

absl::StatusOr<CellVariant> Make(std::string_view name, const CellModel& cell,
                                 const CellExperimentOptions& options = {}) {
  return (*CellExperimentByName(name))->make(cell, options);
}

TEST(CellExperiments, PowersOfTwoBeginAtTheUnit) {
  EXPECT_EQ(PowerOfTwo(0, 500), 0);
  EXPECT_EQ(PowerOfTwo(1, 500), 500);
  EXPECT_EQ(PowerOfTwo(500, 500), 500);
  EXPECT_EQ(PowerOfTwo(501, 500), 1000);
  EXPECT_EQ(PowerOfTwo(9000, 500), 16'000);
}

TEST(CellExperiments, RoundingUpIsOfProductionAndAWholeMachineAtMost) {
  const auto whole = Make("powers-of-two", Small());
  ASSERT_TRUE(whole.ok());
  ASSERT_EQ(whole->parts[0].jobs.size(), 4U);
  EXPECT_EQ(whole->parts[0].jobs[0].limit, (CellAmounts{2000, 4 * kGiBBytes}));
  EXPECT_EQ(whole->parts[0].jobs[0].reservation, Small().jobs[0].reservation);
  EXPECT_EQ(whole->parts[0].jobs[1].limit, Small().jobs[1].limit);
  EXPECT_EQ(whole->parts[0].jobs[2].limit, (CellAmounts{12'000, 40 * kGiBBytes}));
  const auto low = Make("powers-of-two-low", Small());
  ASSERT_TRUE(low.ok());
  EXPECT_EQ(low->parts[0].jobs.size(), 3U);
  EXPECT_EQ(low->left_out, 1U);
  const auto all = Make("powers-of-two-all", Small());
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->parts[0].jobs[0].reservation, (CellAmounts{1000, 4 * kGiBBytes}));
  EXPECT_EQ(all->parts[0].jobs[3].limit, (CellAmounts{500, kGiBBytes}));
  EXPECT_EQ(all->parts[0].jobs[3].reservation, (CellAmounts{250, kGiBBytes}));
}

TEST(CellExperiments, PartsHaveAllMachinesAndEachJobOnce) {
  MadeCellOptions made;
  made.machines = 60;
  const CellModel cell = MakeCell(made);
  for (const CellExperiment& e : CellExperiments()) {
    if (e.name.starts_with("powers")) continue;
    const auto variant = e.make(cell, {});
    ASSERT_TRUE(variant.ok()) << e.name << variant.status();
    std::vector<std::string> names, all;
    for (const CellModel& part : variant->parts) {
      EXPECT_EQ(part.machines.size(), cell.machines.size());
      EXPECT_FALSE(part.jobs.empty());
      for (const CellJob& job : part.jobs) names.push_back(job.name);
    }
    for (const CellJob& job : cell.jobs) all.push_back(job.name);
    EXPECT_THAT(names, ::testing::UnorderedElementsAreArray(all)) << e.name;
  }
  EXPECT_EQ(Make("split-10", cell)->parts.size(), 10U);
  const CellVariant two = *Make("segregate", cell);
  for (size_t p = 0; p < 2; ++p) {
    for (const CellJob& job : two.parts[p].jobs) EXPECT_EQ(IsProduction(job.tier), p == 0);
  }
}

TEST(CellExperiments, LargeUsersAreThoseAboveTheShare) {
  CellExperimentOptions options;
  options.large_user = 9.0 / 64;  // user a has 9 of 64 GiB
  const auto variant = Make("large-users", Small(), options);
  ASSERT_TRUE(variant.ok());
  ASSERT_EQ(variant->parts.size(), 2U);
  EXPECT_EQ(variant->parts[0].jobs.size(), 2U);
  EXPECT_EQ(variant->parts[1].jobs[0].user, "a");
  options.large_user = 0.5;
  EXPECT_THAT(std::string(Make("large-users", Small(), options).status().message()),
              HasSubstr("no user asks for 50 % of the memory"));
}

TEST(CellExperiments, SayWhatChangesNothing) {
  CellModel cell = Small();
  for (CellJob& job : cell.jobs) job.reservation = job.limit;
  EXPECT_EQ(Make("no-reclamation", cell).status().code(), absl::StatusCode::kFailedPrecondition);
  cell.jobs.resize(1);
  EXPECT_EQ(Make("segregate", cell).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Make("split-2", cell).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(CellExperimentByName("bst-fit").status().message()), HasSubstr("expected base, "));
}

TEST(CellExperiments, ScoresDifferInTheScoreOnly) {
  std::vector<CellScore> scores;
  for (const char* name : {"best-fit", "worst-fit", "hybrid"})
    scores.push_back(Make(name, Small())->scoring.score);
  EXPECT_THAT(scores, ElementsAre(CellScore::kBestFit, CellScore::kWorstFit, CellScore::kHybrid));
}

TEST(CellExperiments, ARecommendersLimitsReplaceTheOwners) {
  const CellModel cell = Small();  // reservations are half of the CPU and all of the memory
  const JobAmounts limits = {{"j0", {{800, std::nullopt, std::nullopt, std::nullopt}}},
                             {"j1", {{500, 4 * kGiBBytes, std::nullopt, std::nullopt}}},
                             {"of another cell", {{1, 1, std::nullopt, std::nullopt}}}};
  const CellExperiment experiment = LimitsExperiment("limits:x", "", limits);
  const absl::StatusOr<CellVariant> out = experiment.make(cell, {});
  ASSERT_TRUE(out.ok()) << out.status();
  const std::vector<CellJob>& jobs = out->parts[0].jobs;
  EXPECT_EQ(jobs[0].limit, (CellAmounts{800, 3 * kGiBBytes}));
  EXPECT_EQ(jobs[0].reservation, (CellAmounts{600, 3 * kGiBBytes}));
  EXPECT_EQ(jobs[1].limit, (CellAmounts{500, 4 * kGiBBytes}));
  EXPECT_EQ(jobs[1].reservation, (CellAmounts{500, 4 * kGiBBytes}));  // a full reservation stays full
  EXPECT_EQ(jobs[2].limit, cell.jobs[2].limit);
  EXPECT_EQ(out->cut_to_machine, 0U);
}

TEST(CellExperiments, ALimitThatNoMachineHasRoomForIsCutToTheSmallestThatHadRoom) {
  const CellModel cell = Small();
  const JobAmounts limits = {{"j0", {{13'000, 2 * kGiBBytes, std::nullopt, std::nullopt}}},
                             {"j2", {{12'000, 41 * kGiBBytes, std::nullopt, std::nullopt}}}};
  const absl::StatusOr<CellVariant> out = LimitsExperiment("limits:x", "", limits).make(cell, {});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->cut_to_machine, 2U);
  EXPECT_EQ(out->parts[0].jobs[0].limit, (CellAmounts{6000, 3 * kGiBBytes}));
  EXPECT_EQ(out->parts[0].jobs[2].limit, (CellAmounts{12'000, 40 * kGiBBytes}));
  EXPECT_TRUE(FitsInto(out->parts[0].jobs[2].reservation, out->parts[0].jobs[2].limit));
}

TEST(CellExperiments, APredictorsReservationsAreAtMostTheLimits) {
  const CellModel cell = Small();
  const JobAmounts reservations = {{"j0", {{5000, kGiBBytes, std::nullopt, std::nullopt}}}};
  const absl::StatusOr<CellVariant> out =
      ReservationsExperiment("reservations:x", "", reservations).make(cell, {});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->parts[0].jobs[0].limit, cell.jobs[0].limit);
  EXPECT_EQ(out->parts[0].jobs[0].reservation, (CellAmounts{1200, kGiBBytes}));
  EXPECT_EQ(out->parts[0].jobs[1].reservation, cell.jobs[1].reservation);
}

TEST(CellExperiments, AmountsOfNoJobOfTheCellAreNotRun) {
  const JobAmounts none = {{"of another cell", {{1, 1, std::nullopt, std::nullopt}}}};
  const CellModel cell = Small();
  EXPECT_EQ(LimitsExperiment("x", "", none).make(cell, {}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReservationsExperiment("x", "", none).make(cell, {}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace taut::brain
