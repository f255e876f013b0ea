#include "tools/sim/cell_demands.h"

#include "brain/overcommit/predictors.h"
#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kGiBInt = static_cast<int64_t>(kGiB);

brain::CellJob Asking(std::string name, uint32_t tasks, int64_t millicores, int64_t memory) {
  brain::CellJob job;
  job.name = std::move(name);
  job.tasks = tasks;
  job.limit = job.reservation = {millicores, memory};
  return job;
}

brain::CellModel CellOf(std::vector<brain::CellJob> jobs) {
  brain::CellModel cell;
  cell.resources = brain::CpuAndMemory();
  cell.machines = {{"m", {64'000, 256 * kGiBInt}, {}}};
  cell.jobs = std::move(jobs);
  return cell;
}

TaskWindow Using(uint32_t task, double cores, double memory) {
  TaskWindow t;
  t.task = task;
  t.cpu_mean_cores = t.cpu_peak_cores = static_cast<float>(cores);
  t.memory_mean_bytes = t.memory_peak_bytes = static_cast<float>(memory);
  return t;
}

// Adds a task to the windows [from, until), with the given usage and limits of 4 cores and 8 GiB.
void Steady(MadeDays& source, JobId job, int32_t from, int32_t until, double cores, double memory) {
  for (int32_t w = from; w < until; ++w) {
    source.Put(job, w, Using(0, cores, memory));
    source.SetOwner(job, w, 4, 8 * kGiB);
  }
}

CellDemandsOptions Until(int32_t window) {
  CellDemandsOptions o;
  o.replay.warmup_s = 0;
  o.replay.threads = 1;
  o.until = {window};
  return o;
}

TEST(CellDemands, LimitsAreThoseInForceBeforeTheTime) {
  MadeDays source;
  const JobId job = source.AddJob(Named("web"));
  Steady(source, job, 0, 400, 1, kGiB);
  Steady(source, job, 400, 900, 3, 6 * kGiB);  // usage after `until` must be ignored
  source.Finish();
  const brain::CellModel cell = CellOf({Asking("web", 1, 4000, 8 * kGiBInt)});
  CellDemandsOptions options = Until(400);
  options.replay.policies = {brain::Policy::kStatic, brain::Policy::kPeak};
  const auto demands = ReplayCellDemands(source, cell, options);
  ASSERT_TRUE(demands.ok()) << demands.status();
  EXPECT_EQ(demands->first.index, 0);
  EXPECT_EQ(demands->last.index, 399);
  ASSERT_EQ(demands->all.size(), 2U);
  EXPECT_EQ(demands->all[0].name, "limits:static");
  EXPECT_THAT(demands->all[0].amounts.at("web"), ElementsAre(4000, 8 * kGiBInt, std::nullopt, std::nullopt));
  const auto peak = demands->all[1].amounts.at("web");
  EXPECT_GE(*peak[brain::kCellCpu], 1000);
  EXPECT_LT(*peak[brain::kCellCpu], 3000);
  EXPECT_GE(*peak[brain::kCellMemory], kGiBInt);
  EXPECT_LT(*peak[brain::kCellMemory], 6 * kGiBInt);
  EXPECT_TRUE(demands->all[1].over_days[0].has_value());

  options.until = {900};
  const auto later = ReplayCellDemands(source, cell, options);
  ASSERT_TRUE(later.ok());
  EXPECT_GE(*later->all[1].amounts.at("web")[brain::kCellCpu], 3000);
}

TEST(CellDemands, JobsThatAreNotInTheUsageAreCountedAndNamed) {
  MadeDays source;
  const JobId web = source.AddJob(Named("web"));
  const JobId other = source.AddJob(Named("of another cell"));
  const JobId half = source.AddJob(Named("half"));
  Steady(source, web, 0, 700, 1, kGiB);
  Steady(source, other, 0, 700, 1, kGiB);
  for (int32_t w = 0; w < 700; ++w) source.PutMemory(half, w, 0, kGiB, kGiB);
  source.Finish();
  const brain::CellModel cell =
      CellOf({Asking("web", 2, 4000, 8 * kGiBInt), Asking("unknown", 3, 100, kGiBInt),
              Asking("half", 1, 1000, 2 * kGiBInt)});
  CellDemandsOptions options = Until(700);
  options.replay.policies = {brain::Policy::kPeak};
  options.predictors = {"rc-like"};
  const auto demands = ReplayCellDemands(source, cell, options);
  ASSERT_TRUE(demands.ok()) << demands.status();
  for (const CellDemand& demand : demands->all) {
    EXPECT_EQ(demand.kept_jobs, 1U) << demand.name;
    EXPECT_EQ(demand.kept_tasks, 3U);
    EXPECT_EQ(demand.partly_jobs, 1U);
    EXPECT_THAT(demand.kept, ElementsAre("unknown", "half"));
    EXPECT_EQ(demand.amounts.size(), 2U);
    EXPECT_FALSE(demand.amounts.at("half")[brain::kCellCpu].has_value());
  }
}

TEST(CellDemands, AReservationIsTheMeanOfTheTasksOfTheLastHour) {
  MadeDays source;
  const JobId web = source.AddJob(Named("web"));
  for (int32_t w = 0; w < 200; ++w) {
    source.Put(web, w, Using(0, 1, kGiB));
    source.Put(web, w, Using(1, 2, 3 * kGiB));
    if (w < 180) source.Put(web, w, Using(2, 4, 8 * kGiB));  // this task ends before `until`
    source.SetOwner(web, w, 4, 8 * kGiB);
  }
  source.Finish();
  const brain::CellModel cell = CellOf({Asking("web", 2, 4000, 8 * kGiBInt)});
  CellDemandsOptions options = Until(200);
  options.predictors = {"rc-like", "borg-default", "borg-default:share=0.5", "limit", "reservation"};
  const auto demands = ReplayCellDemands(source, cell, options);
  ASSERT_TRUE(demands.ok()) << demands.status();
  ASSERT_EQ(demands->all.size(), 5U);
  const auto of = [&](size_t i) { return demands->all[i].amounts.at("web"); };
  EXPECT_THAT(of(0), ElementsAre(1500, 2 * kGiBInt, std::nullopt, std::nullopt));
  EXPECT_EQ(of(1)[brain::kCellCpu], 3600);
  EXPECT_EQ(of(2)[brain::kCellCpu], 2000);
  EXPECT_EQ(of(3)[brain::kCellMemory], 8 * kGiBInt);
  // After 16 hours the reservation has fallen from the limit to 115 % of the usage.
  EXPECT_NEAR(static_cast<double>(*of(4)[brain::kCellCpu]), 1.15 * 1500, 2);
  EXPECT_EQ(demands->all[4].name, "reservations:reservation");
  EXPECT_FALSE(demands->all[4].is_limits);
}

TEST(CellDemands, ReservationsAreAtMostTheCellsLimits) {
  MadeDays source;
  const JobId web = source.AddJob(Named("web"));
  Steady(source, web, 0, 100, 3, 6 * kGiB);
  source.Finish();
  const brain::CellModel cell = CellOf({Asking("web", 1, 2000, kGiBInt)});
  CellDemandsOptions options = Until(100);
  options.predictors = {"rc-like"};
  const auto demands = ReplayCellDemands(source, cell, options);
  ASSERT_TRUE(demands.ok());
  EXPECT_THAT(demands->all[0].amounts.at("web"), ElementsAre(2000, kGiBInt, std::nullopt, std::nullopt));
}

TEST(CellDemands, PredictorsOfWholeMachinesHaveLoadsInPlaceOfAmounts) {
  const brain::OvercommitSettings settings;
  MadeDays source;
  const JobId web = source.AddJob(Named("web"));
  Steady(source, web, 0, 200, 1, kGiB);
  source.Finish();
  const brain::CellModel cell =
      CellOf({Asking("web", 1, 4000, 8 * kGiBInt), Asking("unknown", 3, 100, kGiBInt)});
  CellDemandsOptions options = Until(200);
  for (const brain::PeakPredictorInfo& p : brain::PeakPredictors()) {
    options.predictors.emplace_back(p.name);
    const auto adds = AddsUpTasks(std::string(p.name), settings);
    ASSERT_TRUE(adds.ok());
    EXPECT_EQ(*adds, p.sums_tasks) << p.name;
    EXPECT_EQ(p.summed == nullptr, p.sums_tasks) << p.name;
  }
  CellDemandsHooks hooks;
  std::vector<std::string> done;
  hooks.on_progress = [&done](std::string_view what, double share) {
    if (share == 1) done.emplace_back(what);
  };
  const auto demands = ReplayCellDemands(source, cell, options, hooks);
  ASSERT_TRUE(demands.ok()) << demands.status();
  EXPECT_THAT(done, ElementsAre("predictors of cpu", "predictors of memory", "histories of cpu",
                                "histories of memory"));
  // Stop while the histories of the second predictor are read.
  hooks.should_stop = [&done] { return done.size() > 5; };
  EXPECT_TRUE(absl::IsCancelled(ReplayCellDemands(source, cell, options, hooks).status()));
  EXPECT_EQ(done.size(), 6U);
  for (size_t i = 0; i < options.predictors.size(); ++i) {
    const CellDemand& demand = demands->all[i];
    const bool sums = brain::PeakPredictors()[i].sums_tasks;
    EXPECT_EQ(demand.name, (sums ? "reservations:" : "machines:") + options.predictors[i]);
    EXPECT_EQ(demand.loads == nullptr, sums) << demand.name;
    EXPECT_EQ(demand.amounts.empty(), !sums) << demand.name;
    EXPECT_EQ(demand.kept_jobs, 1U) << demand.name;
    EXPECT_THAT(demand.kept, ElementsAre("unknown"));
    EXPECT_EQ(demand.lacks.empty(), demand.of != "pool") << demand.lacks;
  }
  EXPECT_THAT(std::string(AddsUpTasks("oracle", settings).status().message()),
              HasSubstr("unknown peak predictor \"oracle\""));
  EXPECT_FALSE(AddsUpTasks("n-sigma:m=3", settings).ok());
}

TEST(CellDemands, UsageBeforeTheTimeIsNeeded) {
  MadeDays source;
  const JobId web = source.AddJob(Named("web"));
  Steady(source, web, 100, 200, 1, kGiB);
  source.Finish();
  const brain::CellModel cell = CellOf({Asking("web", 1, 4000, 8 * kGiBInt)});
  for (const int32_t until : {0, 100}) {
    CellDemandsOptions options = Until(until);
    options.replay.policies = {brain::Policy::kPeak};
    EXPECT_EQ(ReplayCellDemands(source, cell, options).status().code(), absl::StatusCode::kInvalidArgument);
  }
  CellDemandsOptions options = Until(101);
  options.replay.policies = {brain::Policy::kPeak};
  EXPECT_TRUE(ReplayCellDemands(source, cell, options).ok());
  CellDemandsHooks stop;
  stop.should_stop = [] { return true; };
  EXPECT_TRUE(absl::IsCancelled(ReplayCellDemands(source, cell, options, stop).status()));
}

TEST(CellDemands, JobsOfUsageAreThoseOfTheLastHour) {
  MadeDays source;
  JobInfo info = Named("prod");
  info.priority = 200;
  const JobId prod = source.AddJob(info);
  const JobId plain = source.AddJob(Named("plain"));
  const JobId ended = source.AddJob(Named("ended"));
  const JobId unlimited = source.AddJob(Named("unlimited"));
  for (int32_t w = 280; w < 300; ++w) {  // windows before and after midnight
    if (w < 290) source.Put(prod, w, Using(0, 1, kGiB));
    if (w < 290) source.SetOwner(prod, w, 2.5, 2 * kGiB);
    source.Put(plain, w, Using(0, 1, kGiB));
    source.Put(plain, w, Using(1, 1, kGiB));
    source.SetOwner(plain, w, 0.1, kGiB);
    if (w < 287) source.Put(ended, w, Using(0, 1, kGiB));
    source.Put(unlimited, w, Using(0, 1, kGiB));
  }
  source.Finish();
  auto jobs = JobsOfUsage(source, {299});
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->jobs.size(), 2U);
  EXPECT_EQ(jobs->jobs[0].name, "prod");
  EXPECT_EQ(jobs->jobs[0].tier, Tier::kProduction);
  EXPECT_EQ(jobs->jobs[0].limit[brain::kCellCpu], 2500);
  EXPECT_EQ(jobs->jobs[1].tasks, 2U);
  EXPECT_EQ(jobs->jobs[1].tier, Tier::kBatch);
  EXPECT_EQ(jobs->jobs[1].limit[brain::kCellCpu], 100);
  EXPECT_EQ(jobs->jobs[1].reservation, jobs->jobs[1].limit);
  const auto left_out = jobs->left_out.Take();
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_EQ(left_out[0].first, "unlimited");
  EXPECT_EQ(left_out[0].count, 1U);
  EXPECT_THAT(JobsOfUsage(source, {100})->jobs, IsEmpty());
}

}  // namespace
}  // namespace taut::tools
