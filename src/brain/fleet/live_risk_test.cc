// Tests of promised and delivered risk in a running cell.
#include <string>

#include "brain/fleet/live_fixture.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr size_t kRiskJobs = 6;

std::string RiskBytes(const LiveFleet& fleet) {
  std::string bytes;
  ByteWriter out(&bytes);
  fleet.risks.Save(out);
  return bytes;
}

double DaysOf(const LiveFleet& fleet, Resource r) {
  double days = 0;
  for (const auto& [key, row] : fleet.risks.rows()) days += key.resource == r ? row.all.days : 0;
  return days;
}

void RunDays(LiveFleet& fleet, const Cell& cell, int first_day, int last_day) {
  PassOutput out;
  for (int w = first_day * kWindowsPerDay; w < last_day * kWindowsPerDay; ++w) {
    out.Clear();
    Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  }
}

TEST(LiveRisk, DaysOfShownLimitsAreHeldAgainstTheirChances) {
  const Cell cell(kRiskJobs);
  LiveFleet fleet(Settings(Policy::kCombined, Mode::kObserve));
  AddJobs(fleet, kRiskJobs);
  RunDays(fleet, cell, 0, kDays);
  bool chances = false, shares = false;
  for (const auto& [key, row] : fleet.risks.rows()) {
    EXPECT_FALSE(key.set) << "nothing is set in mode observe";
    EXPECT_LE(row.recent.days, row.all.days);
    EXPECT_EQ(key.class_name(), key.resource == Resource::kCpu ? "serving" : "by_size");
    if (key.resource == Resource::kCpu) {
      EXPECT_EQ(key.size_name(), "4-16") << "by the owner's limit of 4 cores";
    }
    chances = chances || (key.resource == Resource::kMemory && key.promise == RiskPromise::kChance);
    shares = shares || (key.resource == Resource::kCpu && key.promise == RiskPromise::kFleetShare);
    if (key.promise == RiskPromise::kFleetShare) {
      EXPECT_NEAR(*PromisedShare(key, row.all), 0.001, 1e-6);
    }
  }
  EXPECT_TRUE(chances && shares);
  // From the second day on each job-day counts once, except days on which only the owner's limit is shown.
  EXPECT_EQ(DaysOf(fleet, Resource::kCpu), kRiskJobs * (kDays - 1));
  EXPECT_LE(DaysOf(fleet, Resource::kMemory), kRiskJobs * (kDays - 1));
  EXPECT_GT(DaysOf(fleet, Resource::kMemory), kRiskJobs * (kDays - 2));
}

TEST(LiveRisk, LimitsInForceAreToldFromThoseShown) {
  const Cell cell(kRiskJobs);
  for (const Enforcement enforcement : {Enforcement::kAlways, Enforcement::kNever}) {
    LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kAuto);
    settings.enforcement = enforcement;
    LiveFleet fleet(settings);
    AddJobs(fleet, kRiskJobs);
    RunDays(fleet, cell, 0, 3);
    EXPECT_FALSE(fleet.risks.rows().empty());
    for (const auto& [key, row] : fleet.risks.rows()) {
      EXPECT_EQ(key.set, enforcement == Enforcement::kAlways);
      EXPECT_EQ(key.promise, RiskPromise::kNone);
      EXPECT_EQ(PromisedShare(key, row.all), std::nullopt);
    }
  }
  LiveFleet off(Settings(Policy::kMovingWindow, Mode::kOff));
  AddJobs(off, kRiskJobs);
  RunDays(off, cell, 0, 3);
  EXPECT_TRUE(off.risks.rows().empty()) << "nothing is recommended, so nothing is promised";
}

TEST(LiveRisk, AKillAtTheLimitIsADayOver) {
  const Cell cell(1);
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto));
  AddJobs(fleet, 1);
  RunDays(fleet, cell, 0, 3);
  const auto over = [&] {
    double days = 0;
    for (const auto& [key, row] : fleet.risks.rows())
      days += key.resource == Resource::kMemory ? row.all.days_over : 0;
    return days;
  };
  const double before = over();
  PassOutput out;
  for (int w = 3 * kWindowsPerDay; w < 4 * kWindowsPerDay; ++w) {
    const WindowId window{w};
    if (w % kWindowsPerDay == 100) {
      OomRecord oom;
      oom.job = JobId{0};
      oom.time_s = window.start_s() + 10;
      oom.kills = 2;
      fleet.kills.TakeOom(oom, out);
      // Another process of the task is killed at its own lower limit.
      oom.time_s += 20;
      oom.limit = 1e6;
      fleet.kills.TakeOom(oom, out);
    }
    out.Clear();
    Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  }
  EXPECT_GE(over(), before + 1);
  EXPECT_LE(over(), 3) << "a day counts once, however many kills it has";
}

TEST(LiveRisk, ASettingInTheMiddleOfADayKeepsWhatWasCounted) {
  const Cell cell(kRiskJobs);
  const LiveSettings settings = Settings(Policy::kPeak, Mode::kObserve);
  LiveFleet straight(settings), set(settings);
  AddJobs(straight, kRiskJobs);
  AddJobs(set, kRiskJobs);
  RunDays(straight, cell, 0, 5);
  RunDays(set, cell, 0, 4);
  PassOutput out;
  for (int w = 4 * kWindowsPerDay; w < 5 * kWindowsPerDay; ++w) {
    if (w % kWindowsPerDay == 150) {
      ASSERT_TRUE(Set(set, JobId{1}, "canary.duration", "5h", WindowId{w}.start_s(), out).ok());
    }
    out.Clear();
    Step(set, cell.windows()[static_cast<size_t>(w)], out);
  }
  EXPECT_EQ(RiskBytes(set), RiskBytes(straight));
  for (const Resource r : kResources) {
    const auto days = [r](const LiveFleet& fleet) {
      return fleet.job(JobId{1}).of(r).days.Count(DayRecord::What::kRecommended, 4, 28);
    };
    EXPECT_EQ(days(set), days(straight)) << "the record of days, too";
  }
}

TEST(LiveRisk, WhatCameOfAJobStaysWhenItIsForgotten) {
  const Cell cell(kRiskJobs);
  LiveFleet fleet(Settings(Policy::kAnalogs, Mode::kObserve));
  AddJobs(fleet, kRiskJobs);
  RunDays(fleet, cell, 0, 5);
  const std::string before = RiskBytes(fleet);
  fleet.departures.Forget(JobId{2});
  EXPECT_EQ(RiskBytes(fleet), before);
  EXPECT_GT(DaysOf(fleet, Resource::kMemory), 0);
}

TEST(LiveRisk, ADayIsCountedOnceHoweverOftenItIsReadAgain) {
  const Cell cell(kRiskJobs);
  const LiveSettings settings = Settings(Policy::kAnalogs, Mode::kObserve);
  LiveFleet fleet(settings);
  AddJobs(fleet, kRiskJobs);
  RunDays(fleet, cell, 0, 4);
  const std::string fleet_bytes = Models(fleet), risks = RiskBytes(fleet);
  // The chunk was saved before the end of the day, the fleet's state after the end.
  LiveFleet again(settings);
  AddJobs(again, kRiskJobs);
  LiveFleet early(settings);
  AddJobs(early, kRiskJobs);
  RunDays(early, cell, 0, 3);
  const std::string chunk = Chunk(early);
  ByteReader in(chunk);
  ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{3 * kWindowsPerDay - 1}, in).ok());
  ByteReader fleet_in(fleet_bytes);
  ASSERT_TRUE(again.checkpoint.LoadFleet(fleet_in).ok());
  const WindowId through{3 * kWindowsPerDay - 1};
  for (int w = 3 * kWindowsPerDay; w < 4 * kWindowsPerDay; ++w)
    again.restore.Redo(cell.windows()[static_cast<size_t>(w)], {&through, 1});
  again.restore.End(0, 0);
  EXPECT_EQ(RiskBytes(again), risks);
  const double days = DaysOf(again, Resource::kMemory);
  RunDays(again, cell, 4, 5);
  EXPECT_EQ(DaysOf(again, Resource::kMemory), days + kRiskJobs);
}

// Returns a chunk in the format of an earlier version, without the risks of limits.
std::string WithoutRisks(const LiveFleet& fleet, size_t jobs) {
  constexpr size_t kRiskBytes = 3 * sizeof(double) + 3 * sizeof(float) + 2 + sizeof(int32_t);
  size_t bytes = 0;
  for (uint32_t i = 0; i < jobs; ++i) {
    for (const Resource r : kResources)
      bytes += 1 + (fleet.job(JobId{i}).of(r).limit_risk.has_value() ? kRiskBytes : 0);
  }
  const std::string chunk = Chunk(fleet);
  return chunk.substr(0, chunk.size() - bytes);
}

// A restart does not change the risk that is shown for a limit. If the chunk has no risks, the risk is computed
// again.
TEST(LiveRisk, TheRiskOfALimitComesBackFromACheckpoint) {
  const Cell cell(kRiskJobs);
  const LiveSettings settings = Settings(Policy::kCombined, Mode::kObserve);
  LiveFleet fleet(settings);
  AddJobs(fleet, kRiskJobs);
  RunDays(fleet, cell, 0, 8);
  for (const bool old : {false, true}) {
    LiveFleet again(settings);
    AddJobs(again, kRiskJobs);
    const std::string chunk = old ? WithoutRisks(fleet, kRiskJobs) : Chunk(fleet), models = Models(fleet);
    ByteReader models_in(models), in(chunk);
    ASSERT_TRUE(again.checkpoint.LoadFleet(models_in).ok());
    ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{8 * kWindowsPerDay - 1}, in).ok());
    EXPECT_EQ(in.remaining(), 0U);
    again.restore.End(0, 0);
    int forecasts = 0;
    for (uint32_t i = 0; i < kRiskJobs; ++i) {
      for (const Resource r : kResources) {
        const LimitRisk risk = fleet.risk.Of(fleet.job(JobId{i}), r, 7),
                        back = again.risk.Of(again.job(JobId{i}), r, 7);
        EXPECT_EQ(back.limit, risk.limit);
        EXPECT_EQ(back.days_over, risk.days_over);
        EXPECT_EQ(back.work_over, risk.work_over);
        // The new forecast differs because the fleet models have learnt since the decision.
        EXPECT_NEAR(back.chance, risk.chance, old ? 0.02 : 0);
        forecasts += risk.chance >= 0 ? 1 : 0;
      }
    }
    EXPECT_GT(forecasts, 3);
  }
}

TEST(LiveRisk, AStoreOfBeforeThereWerePromisesIsRead) {
  const Cell cell(kRiskJobs);
  const LiveSettings settings = Settings(Policy::kAnalogs, Mode::kObserve);
  LiveFleet fleet(settings);
  AddJobs(fleet, kRiskJobs);
  RunDays(fleet, cell, 0, 3);
  const std::string now = Models(fleet);
  std::string then = now.substr(0, 5) + now.substr(5 + RiskBytes(fleet).size());
  then[0] = 1;
  LiveFleet old(settings);
  AddJobs(old, kRiskJobs);
  ByteReader in(then);
  ASSERT_TRUE(old.checkpoint.LoadFleet(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_TRUE(old.risks.rows().empty());
  // In this chunk, the open risk days are missing.
  const std::string chunk = WithoutRisks(fleet, kRiskJobs);
  std::string opens;
  ByteWriter writer(&opens);
  for (size_t i = 0; i < kRiskJobs; ++i) {
    for (const Resource r : kResources) fleet.job(JobId{static_cast<uint32_t>(i)}).of(r).risk.Save(writer);
  }
  const std::string chunk_then = chunk.substr(0, chunk.size() - opens.size());
  ByteReader chunk_in(chunk_then);
  EXPECT_TRUE(old.checkpoint.LoadChunk(0, WindowId{3 * kWindowsPerDay - 1}, chunk_in).ok());
  RunDays(old, cell, 3, 4);
  EXPECT_EQ(DaysOf(old, Resource::kCpu), kRiskJobs);
}

// A reload that changes settings of the models keeps the risk table.
TEST(LiveRisk, ReloadsKeepTheBook) {
  const Cell cell(kRiskJobs);
  LiveSettings settings = Settings(Policy::kAnalogs, Mode::kObserve);
  LiveFleet fleet(settings);
  AddJobs(fleet, kRiskJobs);
  RunDays(fleet, cell, 0, 5);
  const std::string before = RiskBytes(fleet);
  settings.vertical.analogs.memory_oom_days = 0.1;
  settings.vertical.ensemble.half_lives_s = {kHour};
  fleet.Reload(settings);
  EXPECT_EQ(RiskBytes(fleet), before);
}

}  // namespace
}  // namespace taut::brain
