// Tests that recommenders do not learn the usage of starts, and that this usage determines the limit of later
// starts.
#include "brain/fleet/live_starts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "brain/fleet/live_fixture.h"
#include "common/model/start_usage.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

// Returns a window with one task that uses half a core under the owner's limit. If `start_cores` >= 0, another
// task starts and uses `start_cores` cores.
ClosedWindow WindowOf(int32_t index, float start_cores = kAbsent, float limit = 2) {
  ClosedWindow closed;
  closed.window = WindowId{index};
  JobWindow w{.window = closed.window, .num_tasks = 1, .num_buckets = 1, .cpu_limit_cores = limit};
  const auto gib = static_cast<float>(kGiB);
  closed.tasks = {{0, 0.5F, 0.5F, gib, gib}};
  closed.cpu_buckets.push_back({Grid::Cpu().BucketOf(0.5), 300});
  if (start_cores >= 0) {
    closed.starts = {{.task = 1, .peak_cores = start_cores, .more_cores = start_cores / 2, .is_all = true}};
    w.num_signals = PutStarts(SumStarts(closed.starts), 0, closed.signals);
  }
  closed.jobs.push_back({JobId{0}, w});
  closed.jobs[0].num_starts = static_cast<uint32_t>(closed.starts.size());
  return closed;
}

class LiveStarts : public ::testing::Test {
 protected:
  LiveStarts() : fleet_(Quick()) {
    AddJobs(fleet_, 1);
    PassOutput out;
    EXPECT_TRUE(Set(fleet_, JobId{0}, "cpu.startup_window", "10m", 0, out).ok());
  }
  static LiveSettings Quick() {
    LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kAuto);
    settings.vertical.moving_window.min_history_s = 3600;
    return settings;
  }
  void Run(int32_t from, int32_t to) {
    for (int32_t w = from; w < to; ++w) Pass(WindowOf(w));
  }
  void Pass(ClosedWindow closed) {
    PassOutput out;
    fleet_.pass.TakeOwnersAmounts(closed, 0, 1);
    Step(fleet_, closed, out);
    for (Decision& d : out.decisions) decisions_.push_back(std::move(d));
  }
  const LiveJob& job() const { return fleet_.job(JobId{0}); }
  double InForce() const { return job().of(Resource::kCpu).gate.in_force.value_or(-1); }

  LiveFleet fleet_;
  std::vector<Decision> decisions_;
};

TEST_F(LiveStarts, AreNotLearntOf) {
  Run(0, 40);
  const double limit = InForce();
  ASSERT_GT(limit, 0.5);
  ASSERT_LT(limit, 0.7);
  for (int32_t w = 40; w < 52; ++w) Pass(WindowOf(w, 4));
  EXPECT_EQ(InForce(), limit);
  EXPECT_EQ(job().of(Resource::kCpu).lane.recommended(), limit);
}

TEST_F(LiveStarts, AreTheFactorThenWhatTheyUsed) {
  EXPECT_EQ(job().BoostNow(), std::nullopt) << "nothing is ordered yet";
  Run(0, 40);
  const double limit = InForce();
  ASSERT_TRUE(job().BoostNow().has_value());
  EXPECT_NEAR(job().BoostNow()->cores, 2 * limit, 0.0011);
  Pass(WindowOf(40, 0.9F));
  const auto boost = job().BoostNow();
  ASSERT_TRUE(boost.has_value());
  EXPECT_NEAR(boost->cores, 0.9 * 1.15, 0.02);
  EXPECT_FALSE(boost->highest->cut) << "it had twice the limit";
  Pass(WindowOf(60, static_cast<float>(boost->cores)));
  EXPECT_TRUE(job().BoostNow()->highest->cut);
}

TEST_F(LiveStarts, SayWhatTasksGet) {
  Run(0, 40);
  EXPECT_THAT(fleet_.risk.Explain(JobId{0}, Resource::kCpu).sentence,
              HasSubstr("In the first 10m after its start a task gets"));
  EXPECT_THAT(fleet_.risk.Explain(JobId{0}, Resource::kMemory).sentence,
              ::testing::Not(HasSubstr("start a task")));
}

TEST_F(LiveStarts, ALimitOfOneThatIsReadBackIsNotTheOwners) {
  Run(0, 40);
  const auto boosted = static_cast<float>(job().BoostNow()->cores);
  Pass(WindowOf(40, 0.9F, boosted));
  EXPECT_EQ(job().of(Resource::kCpu).owner_limit, 2);
  Pass(WindowOf(41, 0.9F, boosted));  // the previous limit, which a task may still have
  EXPECT_EQ(job().of(Resource::kCpu).owner_limit, 2);
  Pass(WindowOf(42, kAbsent, 3));
  EXPECT_EQ(job().of(Resource::kCpu).owner_limit, 3);
}

TEST_F(LiveStarts, ProcessLoadWhereTheNumberOfTasksFollowsTheCpu) {
  PassOutput out;
  ASSERT_TRUE(Set(fleet_, JobId{0}, "replicas.policy", "static", 0, out).ok());
  Run(0, 2);
  ASSERT_NE(job().replicas, nullptr);
  EXPECT_EQ(job().replicas->figures().load, 0.5);
  Pass(WindowOf(2, 4));
  EXPECT_EQ(job().replicas->figures().load, 2.5) << "half a core, and the mean of 2 of the start";
  EXPECT_EQ(job().replicas->figures().running, 2);
}

TEST_F(LiveStarts, AreBilled) {
  Run(0, 40);
  const ClosedWindow closed = WindowOf(40, 4);
  PassOutput out;
  std::vector<AccountEntry> account;
  fleet_.pass.Observe(closed, 0, 1, out);
  fleet_.pass.Account(closed, 0, 1, account);
  const AccountAmounts& cpu = account.at(0).amounts(Resource::kCpu);
  EXPECT_EQ(cpu.usage, 300U * 2500) << "half a core, and the mean of 2 of the start";
  EXPECT_EQ(cpu.owner, 300U * 2 * 2000);
}

TEST_F(LiveStarts, AreKeptOverARestartAndByAnOlderState) {
  Run(0, 40);
  Pass(WindowOf(40, 0.9F));
  const std::string chunk = Chunk(fleet_);
  const auto boost = job().BoostNow();
  PassOutput out;
  LiveFleet next(Quick());
  next.AddRestoredJob({JobId{0}, "job-0", {}, 0});
  SettingChange change;
  change.id = 1;
  change.job = "job-0";
  change.key = "cpu.startup_window";
  change.value = "10m";
  next.restore.Redo(change);
  ByteReader in(chunk);
  ASSERT_TRUE(next.checkpoint.LoadChunk(0, WindowId{40}, in).ok());
  ASSERT_TRUE(next.job(JobId{0}).BoostNow().has_value());
  EXPECT_EQ(next.job(JobId{0}).BoostNow()->cores, boost->cores);
  EXPECT_EQ(Chunk(next), chunk);
  // The next window is read from the store, where starts are only stored as signals.
  ClosedWindow stored = WindowOf(41, 3);
  stored.starts.clear();
  stored.jobs[0].num_starts = 0;
  const WindowId through[] = {WindowId{40}};
  next.restore.Redo(stored, through);
  Pass(WindowOf(41, 3));
  EXPECT_EQ(next.job(JobId{0}).BoostNow()->cores, job().BoostNow()->cores);
}

TEST_F(LiveStarts, TakeNoMemoryWhereTheSettingIsOff) {
  Run(0, 3);
  EXPECT_NE(job().starts, nullptr);
  EXPECT_EQ(fleet_.startups.size(), 1U);
  EXPECT_EQ(fleet_.startups.at(0), 600);
  const uint64_t version = fleet_.startups_version;
  PassOutput out;
  ASSERT_TRUE(Set(fleet_, JobId{0}, "cpu.startup_window", "", 0, out).ok());
  EXPECT_TRUE(fleet_.startups.empty());
  EXPECT_NE(fleet_.startups_version, version);
  Run(3, 4);
  EXPECT_EQ(job().starts, nullptr);
  // The saved bytes equal the bytes of a fleet without the setting.
  LiveFleet other(Quick());
  AddJobs(other, 1);
  for (int32_t w = 0; w < 4; ++w) Step(other, WindowOf(w), out);
  EXPECT_EQ(Chunk(other), Chunk(fleet_));
}

TEST_F(LiveStarts, AreFoundAgainInStoredDays) {
  JobDay day;
  for (int32_t w = 0; w < 3; ++w) {
    const ClosedWindow closed = WindowOf(w, w == 1 ? 1.5F : kAbsent);
    const auto first = static_cast<uint32_t>(day.signals.size());
    AppendWindow(closed, 0, day);
    day.windows.back().first_signal = first;
    day.signals.insert(day.signals.end(), closed.signals.begin(), closed.signals.end());
  }
  LiveFleet lost(Quick());
  AddJobs(lost, 1);
  PassOutput out;
  ASSERT_TRUE(Set(lost, JobId{0}, "cpu.startup_window", "10m", 0, out).ok());
  lost.history.Retrain(JobId{0}, {&day, 1}, {});
  ASSERT_NE(lost.job(JobId{0}).starts, nullptr);
  EXPECT_EQ(lost.job(JobId{0}).starts->peaks.highest()->peak, 1.5);
}

}  // namespace
}  // namespace taut::brain
