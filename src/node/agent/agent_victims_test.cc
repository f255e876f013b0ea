// Tests which tasks the kernel or the guard ends when a machine runs out of memory, over hours of random events
// from several seeds. Tasks of all tiers appear, grow, fork and disappear; the agent is killed and starts again;
// the guard has its default options. A simulated kernel chooses by usage and oom_score_adj. No task of production
// ends while a task of a lower tier runs and holds enough memory.
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "common/testing/test_scale.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/agent/tier_fixture.h"

namespace taut::node {
namespace {

constexpr double kVictimsBytes = 256 * kMiB;  // CellMemory has the same total

class VictimMachine {
 public:
  explicit VictimMachine(uint64_t seed) : random_(seed) { cell_.Guard(); }

  // Simulates one second: usage grows in steps, the kernel kills if it must, then the agent samples.
  void Second() {
    ++second_;
    Change();
    for (int step = 0; step < 10; ++step) {
      for (auto& [name, t] : tasks_) Grow(t);
      while (Used() > kVictimsBytes && !tasks_.empty()) KernelKills(Used() - kVictimsBytes);
    }
    cell_.memory.used = Used();
    cell_.Run(1);
    (void)cell_.agent->TakeActs();
    BuryKilled();
  }
  int kernel_kills = 0, guard_kills = 0, of_production = 0;

 private:
  struct Sim {
    InMemoryTask* task = nullptr;
    std::string tier;
    double used = 0, rate = 0, most = 0;  // bytes, bytes/s and bytes
    double at_once = 0;
    int came = 0;  // the second of the task's start
  };

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  double Used() const {
    double sum = 0;
    for (const auto& [name, t] : tasks_) sum += t.used;
    return sum;
  }
  bool IsProduction(const Sim& t) const { return t.tier == "web"; }
  int ScoreOf(const Sim& t) const {
    int highest = kLeastOomScoreAdj;
    for (const int pid : t.task->pids)
      highest = std::max(highest, cell_.processes.processes.at(pid).oom_score_adj);
    return highest;
  }
  // Returns true if the agent has searched for tasks since this task appeared.
  bool IsKnown(const Sim& t) const { return second_ - t.came >= 6; }

  // ---- events ----

  void Change() {
    if (tasks_.size() < 9 && Below(8) == 0) Come();
    if (!tasks_.empty() && Below(60) == 0) End(Any());
    if (!tasks_.empty() && Below(40) == 0) Fork(tasks_.at(Any()));
    if (!tasks_.empty() && Below(10) == 0) {
      Sim& t = tasks_.at(Any());
      t.most = static_cast<double>(1 + Below(IsProduction(t) ? 120 : 90)) * kMiB;
      t.rate = static_cast<double>(1 + Below(80)) * kMiB;
      if (Below(4) == 0) t.at_once = t.most;
    }
    if (Below(600) == 0) Restart();
  }
  void Come() {
    static constexpr const char* kTiers[] = {"web", "web", "mid", "batch", "batch", "free"};
    Sim t;
    t.tier = kTiers[Below(6)];
    const std::string name = StrCat("t", ++last_);
    t.used = static_cast<double>(1 + Below(20)) * kMiB;
    t.most = t.used;
    t.task = &cell_.Add(StrCat(t.tier, "/", name), name, t.used);
    t.task->pids = {NewProcess(0)};
    t.came = second_;
    tasks_[name] = t;
  }
  int NewProcess(int score, int parent = 1) {
    cell_.processes.Add(++last_pid_, score, parent);
    return last_pid_;
  }
  void Fork(Sim& t) {
    const int parent = t.task->pids.front();
    t.task->pids.push_back(NewProcess(cell_.processes.processes.at(parent).oom_score_adj, parent));
  }
  // Restarts the agent as after SIGKILL: it restores nothing.
  void Restart() {
    cell_.agent.reset();
    cell_.Guard();
  }
  void Grow(Sim& t) {
    const double high = t.task->limits.memory_high_bytes.value_or(kVictimsBytes * 2);
    double by = std::min(t.rate / 10, t.most - t.used) + std::exchange(t.at_once, 0);
    if (t.used + by > high) by = std::max(0.0, by) / 20;  // a throttled task grows slowly
    t.used = std::max(t.used + by, kMiB);
    AgentCell::SetUsage(*t.task, t.used);
  }
  std::string Any() {
    auto it = tasks_.begin();
    std::advance(it, Below(static_cast<int64_t>(tasks_.size())));
    return it->first;
  }
  void End(const std::string& name) {
    const Sim t = tasks_.at(name);
    for (const int pid : t.task->pids) cell_.processes.processes.erase(pid);
    cell_.Remove(*t.task);
    tasks_.erase(name);
  }

  // ---- kills ----

  // Kills the task with the highest sum of usage and oom_score_adj, in thousandths of the machine's memory, as the
  // kernel does.
  void KernelKills(double needed) {
    std::string victim;
    double worst = -1e18;
    for (const auto& [name, t] : tasks_) {
      const double badness = t.used + ScoreOf(t) * kVictimsBytes / 1000;
      if (badness <= worst) continue;
      worst = badness;
      victim = name;
    }
    ++kernel_kills;
    Check(victim, needed, "the kernel");
    End(victim);
  }
  void BuryKilled() {
    std::vector<std::string> killed;
    for (const auto& [name, t] : tasks_) {
      if (t.task->kills > 0) killed.push_back(name);
    }
    for (const std::string& name : killed) {
      ++guard_kills;
      Check(name, 0, "the guard");
      End(name);
    }
  }
  void Check(const std::string& name, double needed, const char* who) {
    const Sim& victim = tasks_.at(name);
    if (!IsProduction(victim)) return;
    ++of_production;
    EXPECT_STREQ(who, "the kernel") << "the guard ends no task of production";
    if (!IsKnown(victim)) return;  // the task appeared after the agent's last search
    for (const auto& [other, t] : tasks_) {
      EXPECT_TRUE(IsProduction(t) || !IsKnown(t) || t.used < needed)
          << who << " ended " << victim.tier << "/" << name << " of " << victim.used / kMiB << " MiB for "
          << needed / kMiB << ", while " << t.tier << "/" << other << " held " << t.used / kMiB;
    }
  }

  std::mt19937_64 random_;
  TierCell cell_;
  std::map<std::string, Sim> tasks_;
  int last_ = 0, last_pid_ = 100, second_ = 0;
};

TEST(AgentVictims, ProductionNeverEndsWhileALowerTierHoldsEnough) {
  int kernel_kills = 0, guard_kills = 0, of_production = 0;
  for (uint64_t seed = 1; seed <= 8 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    VictimMachine machine(seed);
    for (int second = 0; second < Scaled(3600) && !testing::Test::HasFailure(); ++second) machine.Second();
    kernel_kills += machine.kernel_kills;
    guard_kills += machine.guard_kills;
    of_production += machine.of_production;
  }
  std::printf("%d kills by the kernel, %d by the guard; %d of production\n", kernel_kills, guard_kills,
              of_production);
  EXPECT_GT(kernel_kills, Scaled(100)) << "the test is of something";
  EXPECT_GT(guard_kills, Scaled(100));
  EXPECT_GT(of_production, 0) << "also of machines that have nothing else";
}

}  // namespace
}  // namespace taut::node
