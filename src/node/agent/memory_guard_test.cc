// Tests which tasks are throttled and killed before memory runs out, case by case, and on random machines.
#include "node/agent/memory_guard.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace taut::node {
namespace {

constexpr int64_t kS = 1'000'000;
constexpr double kTotal = 256 * kMiB;

GuardOptions Both() {
  GuardOptions options;
  options.throttle = options.kill = true;
  return options;
}
GuardTask Task(uint64_t id, Tier tier, double mib, std::optional<double> request_mib = std::nullopt,
               bool can_throttle = true) {
  GuardTask task{id, tier, mib * kMiB, std::nullopt, can_throttle};
  if (request_mib.has_value()) task.request = *request_mib * kMiB;
  return task;
}
MemoryNow Free(double mib) { return {kTotal, mib * kMiB, 0.0, 0.0}; }

// Returns "T3" for a throttle of task 3, "R3" for its end, "K3" for a kill.
std::string Text(const std::vector<GuardAct>& acts) {
  std::string out;
  for (const GuardAct& act : acts) {
    if (!out.empty()) out += ' ';
    out += "TRK"[static_cast<size_t>(act.kind)];
    out += std::to_string(act.task);
  }
  return out;
}

TEST(MemoryGuard, DoesNothingWhileMemoryIsFreeOrNothingIsSwitchedOn) {
  const std::vector<GuardTask> tasks = {Task(1, Tier::kFree, 100)};
  MemoryGuard guard(Both());
  EXPECT_EQ(Text(guard.Step(Free(26), tasks, 0)), "") << "10 % is 25.6 MiB";
  EXPECT_FALSE(guard.is_short());
  MemoryGuard off({});
  for (int s = 0; s < 60; ++s) EXPECT_EQ(Text(off.Step(Free(0), tasks, s * kS)), "");
}

TEST(MemoryGuard, ThrottlesATierAtATimeAndThenKillsOneAtATime) {
  std::vector<GuardTask> tasks = {Task(1, Tier::kProduction, 100), Task(2, Tier::kMid, 20, 10),
                                  Task(3, Tier::kBatch, 30, 20), Task(4, Tier::kBatch, 50, 10),
                                  Task(5, Tier::kMonitoring, 30)};
  MemoryGuard guard(Both());
  const std::vector<GuardAct> first = guard.Step(Free(20), tasks, 0);
  ASSERT_EQ(Text(first), "T4 T3");
  EXPECT_EQ(first[0].high, 45 * kMiB);
  EXPECT_EQ(first[1].high, 27 * kMiB);
  EXPECT_EQ(first[0].why,
            "free 20.0 MiB of 256 MiB is below 25.6 MiB; batch task uses 50.0 MiB, 40.0 MiB over its request "
            "of 10.0 MiB");
  EXPECT_EQ(Text(guard.Step(Free(10), tasks, 1 * kS)), "") << "throttling has its time";
  EXPECT_EQ(Text(guard.Step(Free(10), tasks, 5 * kS)), "T2 K4")
      << "the next tier, and the worst of the first";
  EXPECT_EQ(Text(guard.Step(Free(10), tasks, 6 * kS)), "") << "its memory has to come back";
  tasks.erase(tasks.begin() + 3);
  EXPECT_EQ(Text(guard.Step(Free(10), tasks, 7 * kS)), "K3") << "it is gone, and that was not enough";
  tasks.erase(tasks.begin() + 2);
  EXPECT_EQ(Text(guard.Step(Free(10), tasks, 8 * kS)), "") << "mid was throttled only 3 s ago";
  EXPECT_EQ(Text(guard.Step(Free(10), tasks, 10 * kS)), "K2");
  tasks.erase(tasks.begin() + 1);
  EXPECT_EQ(Text(guard.Step(Free(1), tasks, 16 * kS)), "") << "production and monitoring stay";
  EXPECT_TRUE(guard.is_helpless());
}

TEST(MemoryGuard, DoesNotWaitWhereMemoryIsAboutToEnd) {
  const std::vector<GuardTask> tasks = {Task(1, Tier::kBatch, 100), Task(2, Tier::kBatch, 100)};
  MemoryGuard guard(Both());
  EXPECT_EQ(Text(guard.Step(Free(5), tasks, 0)), "T1 T2 K1") << "2 % is 5.1 MiB";
  EXPECT_EQ(Text(guard.Step(Free(5), tasks, 1 * kS)), "") << "not even then before the first is gone";
  EXPECT_EQ(Text(guard.Step(Free(5), tasks, 5 * kS)), "K1") << "killed again: it is still there";
}

TEST(MemoryGuard, EndsThrottlingOnlyWhenItHasBeenCalm) {
  const std::vector<GuardTask> tasks = {Task(1, Tier::kBatch, 100, 90)};
  MemoryGuard guard(Both());
  EXPECT_EQ(Text(guard.Step(Free(20), tasks, 0)), "T1");
  EXPECT_EQ(Text(guard.Step(Free(30), tasks, 1 * kS)), "") << "not short, and not half as much again";
  for (int s = 2; s < 40; ++s) EXPECT_EQ(Text(guard.Step(Free(30), tasks, s * kS)), "");
  for (int s = 40; s < 70; ++s) EXPECT_EQ(Text(guard.Step(Free(40), tasks, s * kS)), "") << s;
  EXPECT_EQ(Text(guard.Step(Free(40), tasks, 70 * kS)), "R1");
  EXPECT_EQ(Text(guard.Step(Free(20), tasks, 71 * kS)), "T1");
}

TEST(MemoryGuard, PressureCountsOnlyBesideLittleFreeMemory) {
  const std::vector<GuardTask> tasks = {Task(1, Tier::kBatch, 100, 90)};
  MemoryGuard guard(Both());
  MemoryNow now = Free(60);
  now.some = now.full = 0.9;
  EXPECT_EQ(Text(guard.Step(now, tasks, 0)), "") << "a task at its own limit makes this";
  now.free = 40 * kMiB;
  const std::vector<GuardAct> acts = guard.Step(now, tasks, 1 * kS);
  ASSERT_EQ(Text(acts), "T1");
  EXPECT_EQ(acts[0].why,
            "free 40.0 MiB of 256 MiB is below 51.2 MiB and memory pressure (some) 90 % is at least 20 %; "
            "batch task uses 100 MiB, 10.0 MiB over its request of 90.0 MiB");
  EXPECT_EQ(Text(guard.Step(now, tasks, 10 * kS)), "");
  now.free = 20 * kMiB;
  EXPECT_EQ(Text(guard.Step(now, tasks, 11 * kS)), "K1");
  now = {kTotal, 40 * kMiB, std::nullopt, std::nullopt};
  MemoryGuard blind(Both());
  EXPECT_EQ(Text(blind.Step(now, tasks, 0)), "") << "a kernel without PSI";
}

TEST(MemoryGuard, KillsAtOnceWhereNothingCanBeThrottled) {
  const std::vector<GuardTask> tasks = {Task(1, Tier::kBatch, 100, 90, false)};
  MemoryGuard guard(Both());
  EXPECT_EQ(Text(guard.Step(Free(13), tasks, 0)), "") << "5 % is 12.8 MiB";
  EXPECT_EQ(Text(guard.Step(Free(12.5), tasks, 1 * kS)), "K1");
  GuardOptions options = Both();
  options.throttle = false;
  MemoryGuard kills_only(options);
  const std::vector<GuardTask> others = {Task(1, Tier::kBatch, 100)};
  EXPECT_EQ(Text(kills_only.Step(Free(12.5), others, 0)), "K1") << "nor where throttling is off";
}

// On a real machine with 700 MiB, usage once grew by 80 MiB a second while 100 MiB were free.
TEST(MemoryGuard, ActsOnTheRateOfGrowth) {
  const std::vector<GuardTask> tasks = {Task(1, Tier::kBatch, 100)};
  MemoryGuard guard(Both());
  const auto free = [](double mib) { return MemoryNow{700 * kMiB, mib * kMiB, 0.0, 0.0}; };
  EXPECT_EQ(Text(guard.Step(free(150), tasks, 0)), "");
  for (int i = 1; i <= 10; ++i) guard.Note(free(150 - i), i * kS / 10);
  EXPECT_FALSE(guard.IsUrgent(free(140))) << "10 MiB/s: 14 s";
  guard.Note(free(120), 12 * kS / 10);
  EXPECT_TRUE(guard.IsUrgent(free(120))) << "28 MiB/s: 4.3 s";
  const std::vector<GuardAct> slowed = guard.Step(free(120), tasks, 12 * kS / 10);
  ASSERT_EQ(Text(slowed), "T1") << "70 MiB would be short";
  EXPECT_EQ(slowed[0].why,
            "free 120 MiB of 700 MiB falls by 28.0 MiB a second and would be used up in 4.3 s; batch task "
            "uses 100 MiB and has no request");
  EXPECT_EQ(Text(guard.Step(free(60), tasks, 20 * kS / 10)), "K1") << "84 MiB/s: .7 s";
  GuardOptions options = Both();
  options.ahead_us = 0;
  MemoryGuard blind(options);
  EXPECT_EQ(Text(blind.Step(free(139), tasks, 0)), "");
  EXPECT_EQ(Text(blind.Step(free(71), tasks, 1 * kS)), "");
}

TEST(MemoryGuard, ARateIsNoneWhereMuchIsFreeOrTheLimitIsAnother) {
  const std::vector<GuardTask> tasks = {Task(1, Tier::kBatch, 100)};
  MemoryGuard guard(Both());
  EXPECT_EQ(Text(guard.Step(Free(200), tasks, 0)), "");
  EXPECT_EQ(Text(guard.Step(Free(60), tasks, 1 * kS)), "") << "140 MiB/s, but 20 % are 51 MiB";
  EXPECT_FALSE(guard.is_near());
  EXPECT_EQ(Text(guard.Step({200 * kMiB, 30 * kMiB, 0.0, 0.0}, tasks, 2 * kS)), "")
      << "the limit was lowered";
  EXPECT_TRUE(guard.is_near());
  EXPECT_EQ(Text(guard.Step({200 * kMiB, 25 * kMiB, 0.0, 0.0}, tasks, 3 * kS)), "") << "5 s, and not less";
}

TEST(MemoryGuard, WhatCannotBeDoneIsTheNextOnesTurn) {
  const std::vector<GuardTask> tasks = {Task(1, Tier::kBatch, 100), Task(2, Tier::kBatch, 50)};
  MemoryGuard guard(Both());
  EXPECT_EQ(Text(guard.Step(Free(10), tasks, 0)), "T1 T2");
  guard.Refused(GuardActKind::kThrottle, 1, 0);
  EXPECT_FALSE(guard.IsThrottled(1));
  EXPECT_EQ(Text(guard.Step(Free(10), tasks, 5 * kS)), "K1");
  guard.Refused(GuardActKind::kKill, 1, 5 * kS);
  EXPECT_EQ(Text(guard.Step(Free(10), tasks, 6 * kS)), "K2");
}

TEST(MemoryGuard, OnLargeMachinesBytesBoundTheShares) {
  const std::vector<GuardTask> tasks = {Task(1, Tier::kBatch, 100)};
  MemoryGuard guard(Both());
  EXPECT_EQ(Text(guard.Step({1024 * kGiB, 5 * kGiB, {}, {}}, tasks, 0)), "") << "0.5 % is free, 5 GiB";
  EXPECT_EQ(Text(guard.Step({1024 * kGiB, 3 * kGiB, {}, {}}, tasks, 1)), "T1");
}

// A machine whose tasks grow by themselves. Throttled tasks stop growing, and killed tasks may end late.
struct Machine {
  std::map<uint64_t, GuardTask> tasks;
  std::map<uint64_t, double> high;
  std::map<uint64_t, int64_t> goes_us;
  uint64_t last_id = 0;

  double used() const {
    double sum = 0;
    for (const auto& [id, task] : tasks) sum += task.usage;
    return sum;
  }
  std::vector<GuardTask> list() const {
    std::vector<GuardTask> out;
    for (const auto& [id, task] : tasks) out.push_back(task);
    return out;
  }
  void Grow(int64_t now_us) {
    for (auto& [id, task] : tasks) {
      task.usage += *rc::gen::inRange(0, 6) * kMiB;
      if (high.contains(id)) task.usage = std::min(task.usage, std::max(high[id], task.usage - 2 * kMiB));
    }
    std::erase_if(goes_us, [&](const auto& e) {
      if (e.second > now_us) return false;
      tasks.erase(e.first);
      high.erase(e.first);
      return true;
    });
    if (*rc::gen::inRange(0, 3) == 0) {
      const uint64_t id = ++last_id;  // ids are never reused, like the agent's
      tasks.try_emplace(id, Task(id, static_cast<Tier>(*rc::gen::inRange(0, 5)), *rc::gen::inRange(0, 20)));
      if (*rc::gen::inRange(0, 2) == 0) tasks[id].request = *rc::gen::inRange(0, 20) * kMiB;
      tasks[id].can_throttle = *rc::gen::inRange(0, 3) > 0;
    }
  }
};

// Checks the conditions of every kill.
void CheckKill(const GuardAct& act, const Machine& machine, const MemoryNow& now,
               const GuardOptions& options) {
  const GuardTask& victim = machine.tasks.at(act.task);
  RC_ASSERT(now.free < 2 * options.throttle_below.Of(now.total));
  for (const auto& [id, other] : machine.tasks) {
    if (IsProduction(other.tier) || other.usage < kMiB || id == act.task) continue;
    RC_ASSERT(other.tier >= victim.tier);
    if (other.tier == victim.tier) RC_ASSERT(other.over() <= victim.over());
  }
}

RC_GTEST_PROP(MemoryGuard, NeverTouchesProductionAndTakesTheLowestTierFirst, ()) {
  const GuardOptions options = Both();
  MemoryGuard guard(options);
  Machine machine;
  std::vector<int64_t> kills;
  int64_t short_since = -1, killed_us = -1;
  uint64_t killed = 0;
  double killed_usage = 0, last_free = kTotal;
  for (int64_t us = 0; us < 120 * kS; us += kS) {
    machine.Grow(us);
    const MemoryNow now{kTotal, std::max(0.0, kTotal - machine.used()), 0.0,
                        *rc::gen::inRange(0, 20) / 100.0};
    const std::vector<GuardAct> acts = guard.Step(now, machine.list(), us);
    if (!guard.is_short()) short_since = -1;
    if (guard.is_short() && short_since < 0) short_since = us;
    const double free_before = std::exchange(last_free, now.free);
    int now_killed = 0;
    for (const GuardAct& act : acts) {
      RC_ASSERT(machine.tasks.contains(act.task));
      GuardTask& task = machine.tasks[act.task];
      RC_ASSERT(!IsProduction(task.tier));
      if (act.kind == GuardActKind::kRelease) machine.high.erase(act.task);
      if (act.kind == GuardActKind::kThrottle) {
        RC_ASSERT(task.can_throttle);
        RC_ASSERT(act.high <= task.usage);
        machine.high[act.task] = act.high;
      }
      if (act.kind != GuardActKind::kKill) continue;
      ++now_killed;
      CheckKill(act, machine, now, options);
      const bool is_last = now.free < options.last_below.Of(kTotal);
      const bool is_ahead = now.free < free_before - now.free;  // true if memory is used up within a second
      RC_ASSERT(is_last || is_ahead || !task.can_throttle || us - short_since >= options.after_us);
      // The previous victim has ended, or settle_us has passed since its kill.
      RC_ASSERT(killed_us < 0 || us - killed_us >= options.settle_us || !machine.tasks.contains(killed) ||
                machine.tasks[killed].usage <= std::max(0.1 * killed_usage, kMiB));
      killed_usage = task.usage;
      killed = act.task;
      killed_us = us;
      kills.push_back(us);
      machine.goes_us[act.task] = us + *rc::gen::inRange(0, 8) * kS;
    }
    RC_ASSERT(now_killed <= 1);
    RC_ASSERT(std::count_if(kills.begin(), kills.end(), [us](int64_t t) { return us - t < 60 * kS; }) <=
              options.kills_per_minute);
  }
}

}  // namespace
}  // namespace taut::node
