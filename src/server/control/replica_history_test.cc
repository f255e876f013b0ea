#include "server/control/replica_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "brain/fleet/signal_builder.h"
#include "brain/rollout/rules.h"
#include "common/base/random.h"
#include "common/model/said_replicas.h"

namespace taut::server {
namespace {

using testing::Optional;

brain::JobPolicy Hpa() {
  brain::JobPolicy policy;
  EXPECT_TRUE(brain::SetJobSetting("replicas.policy", "hpa", policy).ok());
  EXPECT_TRUE(brain::SetJobSetting("replicas.hpa.target", "0.5", policy).ok());
  return policy;
}

// Returns one day: `tasks` with a limit of two cores, and the load that `load` returns for each window.
// `memory`: usage per task, bytes.
template <typename Load>
JobDay Day(int tasks, Load load, float memory = kAbsent) {
  JobDay day;
  for (int32_t w = 0; w < kWindowsPerDay; ++w) {
    JobWindow window;
    window.window = WindowId{w};
    window.first_task = static_cast<uint32_t>(day.tasks.size());
    window.num_tasks = static_cast<uint32_t>(tasks);
    window.first_bucket = static_cast<uint32_t>(day.cpu_buckets.size());
    window.num_buckets = 1;
    window.cpu_limit_cores = 2;
    window.memory_limit_bytes = memory;
    const auto each = static_cast<float>(load(w) / tasks);
    for (int t = 0; t < tasks; ++t)
      day.tasks.push_back({static_cast<uint32_t>(t), each, each, memory, memory});
    day.cpu_buckets.push_back({Grid::Cpu().BucketOf(each), 300.0F * static_cast<float>(tasks)});
    day.windows.push_back(window);
  }
  return day;
}

// A job with a load series and no measured task: a series reports the number of tasks.
TEST(ReplicaHistory, HasTheNumberThatASeriesSaid) {
  brain::JobPolicy policy = Hpa();
  ASSERT_TRUE(brain::SetJobSetting("replicas.task_capacity", "100", policy).ok());
  std::vector<JobDay> days(1);
  for (int32_t w = 0; w < kWindowsPerDay; ++w) {
    JobWindow window;
    window.window = WindowId{w};
    window.load = 300;
    window.first_signal = static_cast<uint32_t>(days[0].signals.size());
    if (w < 200) window.num_signals = PutSaid({.count = 8, .ready = 7}, window.first_signal, days[0].signals);
    days[0].windows.push_back(window);
  }
  const ReplicaHistory history =
      ReplicasOverTime({.policy = &policy, .from = WindowId{0}, .to = WindowId{288}, .columns = 288}, days);
  EXPECT_FALSE(history.is_of_cpu);
  EXPECT_THAT(history.columns[199].tasks, Optional(8));
  EXPECT_THAT(history.columns[199].load, Optional(300));
  EXPECT_THAT(history.columns[199].would_be, Optional(6));
  EXPECT_THAT(history.columns[199].capacity, Optional(testing::DoubleEq(8 * 100 * 0.8)));
  EXPECT_FALSE(history.columns[200].tasks.has_value()) << "nobody said how many";
}

TEST(ReplicaHistory, SaysWhatWouldHaveRun) {
  const brain::JobPolicy policy = Hpa();
  // Ten tasks have a load of four cores. Four tasks are enough at half of two cores each.
  const std::vector<JobDay> days = {Day(10, [](int) { return 4.0; })};
  const ReplicaHistory history =
      ReplicasOverTime({.policy = &policy, .from = WindowId{0}, .to = WindowId{288}, .columns = 24}, days);
  ASSERT_EQ(history.columns.size(), 24U);
  EXPECT_EQ(history.step_s, 3600);
  const ReplicaColumn& last = history.columns.back();
  EXPECT_THAT(last.tasks, Optional(10));
  EXPECT_THAT(last.would_be, Optional(4));
  EXPECT_NEAR(*last.load, 4, 1e-5);
  EXPECT_NEAR(*last.capacity, 10 * 2 * 0.8, 1e-9);
  EXPECT_NEAR(*last.would_be_capacity, 4 * 2 * 0.8, 1e-9);
  EXPECT_EQ(history.totals.windows, 287U) << "in the first window nothing was in force";
  EXPECT_NEAR(history.totals.task_hours, 287 * 10 / 12.0, 1e-9);
  EXPECT_LT(history.totals.would_be_task_hours, history.totals.task_hours / 2);
  EXPECT_EQ(history.totals.overloaded, 0U);
  EXPECT_EQ(history.totals.would_be_overloaded, 0U);
}

TEST(ReplicaHistory, WhatWasRecommendedBeforeARiseIsOverloaded) {
  const brain::JobPolicy policy = Hpa();
  const std::vector<JobDay> days = {Day(10, [](int w) { return w < 200 ? 2.0 : 9.0; })};
  const ReplicaHistory history =
      ReplicasOverTime({.policy = &policy, .from = WindowId{0}, .to = WindowId{288}, .columns = 288}, days);
  EXPECT_THAT(history.columns[200].would_be, Optional(2)) << "decided before the rise";
  EXPECT_EQ(history.totals.would_be_overloaded, 1U);
  EXPECT_EQ(history.totals.overloaded, 0U);
  EXPECT_EQ(history.totals.changes, 0U);
  EXPECT_GE(history.totals.would_be_changes, 1U);
}

TEST(ReplicaHistory, TheForecastsBandHoldsMostLoads) {
  brain::JobPolicy policy;
  ASSERT_TRUE(brain::SetJobSetting("replicas.policy", "forecast", policy).ok());
  Rng rng(5);
  std::vector<JobDay> days;
  for (int d = 0; d < 8; ++d) {
    JobDay& day = days.emplace_back(
        Day(10, [&](int w) { return (8 + 3 * std::sin(w * 2 * M_PI / 288)) * (1 + 0.1 * rng.Normal()); }));
    day.day = d;
    for (JobWindow& w : day.windows) w.window.index += d * kWindowsPerDay;
  }
  const WindowId from{7 * kWindowsPerDay};
  const ReplicaHistory history = ReplicasOverTime(
      {.policy = &policy, .from = from, .to = WindowId{from.index + kWindowsPerDay}, .columns = 288}, days);
  int within = 0;
  for (const ReplicaColumn& c : history.columns) {
    ASSERT_TRUE(c.forecast_low.has_value() && c.forecast_high.has_value());
    within += *c.load >= *c.forecast_low && *c.load <= *c.forecast_high ? 1 : 0;
  }
  EXPECT_NEAR(within / 288.0, 0.8, 0.08);
  const brain::JobPolicy hpa = Hpa();
  for (const ReplicaColumn& c :
       ReplicasOverTime({.policy = &hpa, .from = from, .to = WindowId{from.index + 9}}, days).columns)
    EXPECT_FALSE(c.forecast_high.has_value());
}

// The history recommends the same number of tasks as a live job. The number depends on the size of a task that the
// query chooses.
TEST(ReplicaHistory, IsWhatTheLiveJobWouldDo) {
  const brain::JobPolicy policy = Hpa();
  std::vector<JobDay> days;
  for (int d = 0; d < 3; ++d) {
    JobDay& day = days.emplace_back(Day(
        10, [](int w) { return 4 + 2 * std::sin(w * 2 * M_PI / 288); }, 16e9F));
    day.day = d;
    for (JobWindow& w : day.windows) w.window.index += d * kWindowsPerDay;
  }
  const std::unique_ptr<brain::LiveReplicas> live = brain::LiveReplicas::For(policy);
  brain::JobPolicy observed = policy;
  observed.mode = Mode::kObserve;
  brain::DaySignals cpu, memory;
  std::vector<int> recommended;
  for (const JobDay& day : days) {
    cpu.Build(day, Resource::kCpu);
    memory.Build(day, Resource::kMemory);
    for (size_t w = 0; w < cpu.signals().size(); ++w) {
      const Signal& signal = cpu.signals()[w];
      live->Observe(signal, signal.owner_limit, brain::SizeUse::kWouldBe);
      live->ObserveMemory(memory.signals()[w], memory.signals()[w].owner_limit);
      (void)live->Decide(observed, signal.window.next().start_s());
      recommended.push_back(*live->figures().recommended);
    }
  }
  ReplicaHistoryQuery query{.policy = &policy,
                            .from = WindowId{576},
                            .to = WindowId{864},
                            .columns = 288,
                            .size = brain::SizeUse::kWouldBe};
  const ReplicaHistory history = ReplicasOverTime(query, days);
  for (size_t w = 0; w < 288; ++w)
    ASSERT_THAT(history.columns[w].would_be, Optional(recommended[576 + w - 1])) << w;
  query.size = brain::SizeUse::kOwners;
  const ReplicaHistory owners = ReplicasOverTime(query, days);
  const ReplicaColumn &chosen = history.columns.back(), &own = owners.columns.back();
  EXPECT_NE(*chosen.would_be, *own.would_be) << "at another size it is another number";
  EXPECT_EQ(*chosen.capacity, *own.capacity) << "of the tasks that ran";
  EXPECT_NE(*chosen.would_be_capacity / *chosen.would_be, *own.would_be_capacity / *own.would_be);
}

TEST(ReplicaHistory, AbsentIsAbsent) {
  const brain::JobPolicy none;
  std::vector<JobDay> days = {Day(3, [](int) { return 1.0; })};
  const ReplicaHistory history =
      ReplicasOverTime({.policy = &none, .from = WindowId{-288}, .to = WindowId{288}, .columns = 2}, days);
  EXPECT_FALSE(history.columns[0].load.has_value());
  EXPECT_FALSE(history.columns[0].tasks.has_value());
  EXPECT_TRUE(history.columns[1].load.has_value());
  EXPECT_FALSE(history.columns[1].would_be.has_value());
  EXPECT_EQ(history.totals.windows, 0U);
  const brain::JobPolicy policy = Hpa();
  for (JobWindow& w : days[0].windows) w.cpu_limit_cores = kAbsent;
  const ReplicaHistory without_limit =
      ReplicasOverTime({.policy = &policy, .from = WindowId{0}, .to = WindowId{288}, .columns = 1}, days);
  EXPECT_FALSE(without_limit.columns[0].would_be.has_value()) << "what a task can process is not known";
  EXPECT_FALSE(without_limit.columns[0].capacity.has_value());
  EXPECT_TRUE(without_limit.columns[0].tasks.has_value());
}

TEST(ReplicaHistory, EarlierDaysAreLearntFrom) {
  brain::JobPolicy policy;
  ASSERT_TRUE(brain::SetJobSetting("replicas.policy", "autopilot", policy).ok());
  std::vector<JobDay> days = {Day(10, [](int w) { return w == 100 ? 14.0 : 2.0; }),
                              Day(10, [](int) { return 2.0; })};
  for (JobWindow& w : days[1].windows) w.window.index += kWindowsPerDay;
  days[1].day = 1;
  const ReplicaHistoryQuery query{
      .policy = &policy, .from = WindowId{288}, .to = WindowId{576}, .columns = 1};
  const ReplicaHistory with_past = ReplicasOverTime(query, days);
  const ReplicaHistory alone = ReplicasOverTime(query, std::span(days).subspan(1));
  EXPECT_GT(*with_past.columns[0].would_be, *alone.columns[0].would_be);
}

}  // namespace
}  // namespace taut::server
