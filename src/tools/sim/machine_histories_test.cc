#include "tools/sim/machine_histories.h"

#include <cmath>

#include "brain/cell/compaction.h"
#include "brain/overcommit/predictors.h"
#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tools/sim/packed_usage.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;

using CoresOf = std::function<double(uint32_t job, int32_t window)>;

// Returns days of jobs with one task and limits of 8 cores and 8 GiB. `cores` returns the usage in cores and in
// GiB; negative: no row.
MadeDays UsageOf(uint32_t jobs, int32_t windows, const CoresOf& cores) {
  MadeDays out;
  for (uint32_t j = 0; j < jobs; ++j) {
    const JobId job = out.AddJob(Named("j" + std::to_string(j)));
    for (int32_t w = 0; w < windows; ++w) {
      const double used = cores(j, w);
      if (used < 0) continue;
      TaskWindow t;
      t.cpu_mean_cores = t.cpu_peak_cores = static_cast<float>(used);
      t.memory_mean_bytes = t.memory_peak_bytes = static_cast<float>(used * kGiB);
      out.Put(job, w, t);
      out.SetOwner(job, w, 8, 8 * kGiB);
    }
  }
  out.Finish();
  return out;
}

// Returns a cell of the same jobs on machines of 8 cores and 8 GiB.
brain::CellModel CellWith(uint32_t jobs, uint32_t machines = 20) {
  brain::CellModel cell;
  cell.resources = brain::CpuAndMemory();
  for (uint32_t m = 0; m < machines; ++m)
    cell.machines.push_back({"m" + std::to_string(m), {8000, static_cast<int64_t>(8 * kGiB)}, {}});
  for (uint32_t j = 0; j < jobs; ++j) {
    brain::CellJob& job = cell.jobs.emplace_back();
    job.name = "j" + std::to_string(j);
    job.limit = job.reservation = {8000, static_cast<int64_t>(8 * kGiB)};
  }
  return cell;
}

std::vector<WholeMachines> Histories(DaySource& source, const brain::CellModel& cell,
                                     std::vector<std::string> predictors, int32_t until) {
  MachineHistoriesOptions options{.predictors = std::move(predictors), .overcommit = {}, .until = {until}};
  auto out = ReplayMachineHistories(source, cell, options);
  EXPECT_TRUE(out.ok()) << out.status();
  return *std::move(out);
}

// Returns the usage of job j. Even jobs use 6 cores by day and 1 core by night. Odd jobs use 1 core by day and 6
// cores by night.
double DayAndNight(uint32_t j, int32_t w) {
  return (w % kWindowsPerDay < kWindowsPerDay / 2) == (j % 2 == 0) ? 6 : 1;
}

// An even and an odd job together use 7 of 8 cores at any time, and two even jobs use 12. So a pair of jobs fits
// on a machine. According to limits or to the peaks of single tasks, only one task would fit.
TEST(MachineHistories, TasksThatPeakApartShareAMachine) {
  const int32_t windows = 9 * kWindowsPerDay;
  MadeDays source = UsageOf(8, windows, DayAndNight);
  const brain::CellModel cell = CellWith(8);
  EXPECT_EQ(brain::CompactCell(cell, {})->needed, 8U);
  const auto histories = Histories(
      source, cell,
      {"machine-max", "machine-percentile:percentile=100", "machine-max:factor=1.2", "max:of=rc-like"},
      windows);
  const uint32_t expected[] = {4, 4, 8, 8};
  for (size_t p = 0; p < histories.size(); ++p) {
    brain::CompactionOptions options;
    options.scheduler.loads = histories[p].loads.get();
    const auto result = brain::CompactCell(cell, options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->needed, expected[p]) << p;
    EXPECT_EQ(result->max, expected[p]) << p;
  }
  // 7 days have 2,016 windows, with two bytes for each of two resources.
  EXPECT_EQ(histories[0].bytes_a_task, 8064U);
}

// A change of usage after `until` must not affect a history.
TEST(MachineHistories, NothingIsSeenOfTheFuture) {
  const int32_t until = 3 * kWindowsPerDay;
  const auto quiet = [&](uint32_t, int32_t w) { return w < until ? 1.0 : 8.0; };
  MadeDays with = UsageOf(6, until + 300, quiet), without = UsageOf(6, until, quiet);
  const brain::CellModel cell = CellWith(6);
  const brain::CellIndex index(cell);
  for (const char* const spec : {"machine-max", "n-sigma", "machine-percentile", "max", "pool"}) {
    const auto a = Histories(with, cell, {spec}, until), b = Histories(without, cell, {spec}, until);
    const auto one = a[0].loads->New(index, 1), two = b[0].loads->New(index, 1);
    for (uint32_t t = 0; t < 6; ++t) {
      EXPECT_EQ(one->PeakWith(t, 0), two->PeakWith(t, 0)) << spec;
      one->Add(t, 0);
      two->Add(t, 0);
    }
  }
}

double Noise(uint32_t j, int32_t w) {
  const double x = std::sin(0.7 * w + 1.9 * j) + std::sin(0.031 * w * (1 + j % 3));
  return std::clamp(1.5 + x + ((w + 7 * static_cast<int32_t>(j)) % 97 == 0 ? 2.5 : 0), 0.0, 8.0);
}

// The predicted peak of a new set of tasks equals the peak of a machine that always had these tasks.
TEST(MachineHistories, ThePeakIsThatOfAMachineWithTheseTasks) {
  const int32_t windows = 9 * kWindowsPerDay + 17;
  MadeDays source = UsageOf(5, windows, Noise);
  const brain::CellModel cell = CellWith(5);
  const brain::CellIndex index(cell);
  const std::vector<std::string> specs = {"n-sigma",
                                          "n-sigma:n=2:window=100h",
                                          "machine-percentile",
                                          "machine-percentile:percentile=80:window=30h",
                                          "machine-max",
                                          "machine-max:factor=1.1:share=0.5:days=2",
                                          "max",
                                          "max:of=machine-max+n-sigma"};
  const auto histories = Histories(source, cell, specs, windows);
  for (size_t p = 0; p < specs.size(); ++p) {
    const auto load = histories[p].loads->New(index, 3);
    const auto real = brain::NewPeakPredictor(specs[p], {});
    ASSERT_TRUE(real.ok());
    for (uint32_t t = 0; t < 4; ++t) load->Add(t, 2);
    for (int32_t w = 0; w < windows; ++w) {
      std::vector<brain::TaskLoad> tasks;
      for (uint32_t t = 0; t < 4; ++t) tasks.push_back({t, static_cast<float>(Noise(t, w)), 8});
      (*real)->Observe({w}, 0, Sum(tasks));
      (*real)->EndWindow({w});
    }
    const double cores = (*real)->Predict(0);
    EXPECT_NEAR(static_cast<double>(load->Peak(2)[0]), 1000 * cores, 1 + 1000 * cores * 1e-3) << specs[p];
    EXPECT_NEAR(static_cast<double>(load->Peak(2)[1]), cores * kGiB, cores * kGiB * 1e-3) << specs[p];
    EXPECT_EQ(load->Peak(0), brain::CellAmounts()) << specs[p];
    load->Remove(3, 2);
    const brain::CellAmounts with = load->PeakWith(3, 2);
    load->Add(3, 2);
    EXPECT_EQ(load->Peak(2), with) << specs[p];
  }
}

// The pool predicts the limits until it has compared enough forecasts with usage, and predicts less afterwards.
TEST(MachineHistories, ThePoolLearnsFromMachinesOfTheSameTasks) {
  const int32_t windows = 22 * kWindowsPerDay;
  MadeDays source = UsageOf(60, windows, Noise);
  const brain::CellModel cell = CellWith(60);
  const brain::CellIndex index(cell);
  const auto early = Histories(source, cell, {"pool"}, 9 * kWindowsPerDay);
  const auto late = Histories(source, cell, {"pool"}, windows);
  EXPECT_THAT(early[0].lacks, HasSubstr("of 20 machine-days of completed forecasts there are"));
  EXPECT_EQ(late[0].lacks, "");
  const auto a = early[0].loads->New(index, 1), b = late[0].loads->New(index, 1);
  double highest = 0;
  for (int32_t w = windows - 7 * kWindowsPerDay; w < windows; ++w) {
    double sum = 0;
    for (uint32_t t = 0; t < 20; ++t) sum += Noise(t, w);
    highest = std::max(highest, sum);
  }
  for (uint32_t t = 0; t < 20; ++t) {
    a->Add(t, 0);
    b->Add(t, 0);
  }
  EXPECT_EQ(a->Peak(0)[0], 160'000);
  EXPECT_GT(static_cast<double>(b->Peak(0)[0]), 900 * highest);
  EXPECT_LT(b->Peak(0)[0], 120'000);
}

TEST(MachineHistories, WithoutHistoryTheReservationCountsAndWithLittleTheLimit) {
  const int32_t windows = 2 * kWindowsPerDay;
  MadeDays source = UsageOf(2, windows, [&](uint32_t j, int32_t w) {
    return j == 1 && w < windows - 10 ? -1.0 : 2.0;  // j1 has usage in the last ten windows only
  });
  brain::CellModel cell = CellWith(3);
  cell.jobs[2].reservation = {3000, static_cast<int64_t>(kGiB)};
  const brain::CellIndex index(cell);
  const auto histories = Histories(source, cell, {"machine-max"}, windows);
  const auto load = histories[0].loads->New(index, 1);
  load->Add(0, 0);
  EXPECT_EQ(load->Peak(0)[0], 2000);
  EXPECT_EQ(load->PeakWith(1, 0)[0], 2000 + 8000);
  EXPECT_EQ(load->PeakWith(2, 0)[0], 2000 + 3000);
}

// Tasks that were removed from a machine do not affect the need of its other tasks. The need is at most the sum of
// the tasks' limits. For machine-max, the need never falls when a task is added.
RC_GTEST_PROP(MachineHistories, WhatIsTakenAwayIsGone, ()) {
  static MadeDays source = UsageOf(6, 600, [](uint32_t j, int32_t w) {
    return (w / 50 + static_cast<int32_t>(j)) % 5 == 0 ? -1.0 : Noise(j, w);
  });
  static const brain::CellModel cell = CellWith(6);
  static const brain::CellIndex index(cell);
  static const std::vector<std::string> specs = {"n-sigma", "machine-percentile", "machine-max:share=0.3",
                                                 "max", "pool"};
  static const auto histories = Histories(source, cell, specs, 600);
  for (size_t p = 0; p < specs.size(); ++p) {
    const auto load = histories[p].loads->New(index, 2);
    std::vector<bool> on(6);
    for (const uint8_t step : *rc::gen::arbitrary<std::vector<uint8_t>>()) {
      const uint32_t task = step % 6;
      const brain::CellAmounts before = load->Peak(0);
      if (on[task]) {
        load->Remove(task, 0);
      } else {
        const brain::CellAmounts with = load->PeakWith(task, 0);
        load->Add(task, 0);
        RC_ASSERT(load->Peak(0) == with);
        if (p == 2) RC_ASSERT(with[0] >= before[0] && with[1] >= before[1]);
      }
      on[task] = !on[task];
    }
    int64_t limit = 0;
    for (uint32_t t = 0; t < 6; ++t) {
      if (!on[t]) continue;
      load->Add(t, 1);
      limit += 8000;
    }
    RC_ASSERT(load->Peak(0) == load->Peak(1));
    RC_ASSERT(load->Peak(0)[0] <= limit);
  }
}

TEST(PackedMachines, HoursWithTooLittleAreCounted) {
  // After window 288, j0 and j1 use 3 cores each, except in two windows of the third hour, in which j1 uses 6
  // cores.
  const auto cores = [](uint32_t j, int32_t w) { return j == 1 && (w == 315 || w == 316) ? 6.0 : 3.0; };
  MadeDays source = UsageOf(3, 288 + 60, cores);
  brain::CellModel cell = CellWith(4, 2);  // j3 has no usage
  cell.machines[1].capacity[brain::kCellMemory] = static_cast<int64_t>(2 * kGiB);
  auto recorded = ReadRecordedTasks(source, cell, {288});
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(recorded->size(), 3U);
  EXPECT_EQ(recorded->Of("j3").count, 0U);
  PackedMachines packed(*std::move(recorded));
  packed.Add(cell, {.machines = {0, 1}, .machine_of_task = {0, 0, 1, 1}});
  packed.Add(cell, {.machines = {0}, .machine_of_task = {0, brain::kNowhere, brain::kNowhere, 0}});
  const auto usage = packed.Measure(source, {288}, {288 + 48});
  ASSERT_TRUE(usage.ok()) << usage.status();
  // The packing has two machines for four hours. The first machine uses 9 of 8 cores and GiB in one hour. The
  // second machine always uses 3 of 2 GiB.
  EXPECT_EQ((*usage)[0].machine_hours, 8U);
  EXPECT_EQ((*usage)[0].over[0], 1U);
  EXPECT_EQ((*usage)[0].over[1], 5U);
  EXPECT_EQ((*usage)[0].over_any, 5U);
  EXPECT_EQ((*usage)[1].machine_hours, 4U);
  EXPECT_EQ((*usage)[1].over_any, 0U);
  // A task's usage is capped at its limit. So j1 uses at most 4 cores, and the machine at most 7 of 8.
  for (brain::CellJob& job : cell.jobs) job.limit = job.reservation = {4000, static_cast<int64_t>(4 * kGiB)};
  packed.Add(cell, {.machines = {0, 1}, .machine_of_task = {0, 0, 1, 1}});
  EXPECT_EQ((*packed.Measure(source, {288}, {288 + 48}))[2].over[0], 0U);
  EXPECT_TRUE(absl::IsCancelled(packed.Measure(source, {288}, {300}, [] { return true; }).status()));
}

}  // namespace
}  // namespace taut::tools
