// Tests that no decision is made before the owner's settings and limits are known. Also tests series that report
// limits set by Tautline, as for resized pods.
#include <algorithm>
#include <deque>

#include "brain/fleet/live_fixture.h"
#include "common/model/labels.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// A cell with one job. A series reports the memory limit that was in force some windows ago.
class ReadBack {
 public:
  explicit ReadBack(Enforcement enforcement = Enforcement::kAlways) : cell_(1), fleet_(Of(enforcement)) {
    AddJobs(fleet_, 1);
  }
  void Run(int windows) {
    for (int i = 0; i < windows; ++i) {
      ClosedWindow closed = cell_.windows()[static_cast<size_t>(next_++)];
      closed.jobs[0].window.memory_limit_bytes = static_cast<float>(seen_.front());
      // The request of a resized pod is half of the pod's limit.
      if (has_request_) closed.jobs[0].requests.memory_bytes = static_cast<float>(seen_.front() / 2);
      seen_.pop_front();
      fleet_.pass.TakeOwnersAmounts(closed, 0, 1);
      out_.Clear();
      Step(fleet_, closed, out_);
      changes_ += out_.decisions.size();
      seen_.push_back(lane().gate.in_force.value_or(template_));
      lowest_owner_ = std::min(lowest_owner_, double{lane().owner_limit});
    }
  }
  void Restart() {
    const std::string saved = Chunk(fleet_);
    LiveFleet again(Of(Enforcement::kAlways));
    AddJobs(again, 1);
    ByteReader in(saved);
    ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{next_}, in).ok());
    const LiveLane& loaded = again.job(JobId{0}).of(Resource::kMemory);
    EXPECT_EQ(loaded.owner_before, lane().owner_before);
    EXPECT_EQ(loaded.ordered_before, lane().ordered_before);
    EXPECT_EQ(Chunk(again), saved);
  }
  LiveFleet& fleet() { return fleet_; }
  const LiveLane& lane() { return fleet_.job(JobId{0}).of(Resource::kMemory); }
  double template_ = 512 * kMiB;
  bool has_request_ = false;
  std::deque<double> seen_ = {template_, template_, template_};
  size_t changes_ = 0;
  double lowest_owner_ = template_;
  PassOutput out_;

 private:
  static LiveSettings Of(Enforcement enforcement) {
    LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kAuto);
    settings.enforcement = enforcement;
    return settings;
  }
  Cell cell_;
  LiveFleet fleet_;
  int next_ = 0;
};

TEST(LiveOwners, WhatIsReadBackIsNotTheOwners) {
  ReadBack job;
  job.Run(8 * kWindowsPerDay);
  EXPECT_GT(job.changes_, 4U);
  ASSERT_TRUE(job.lane().gate.in_force.has_value());
  EXPECT_LT(*job.lane().gate.in_force, 0.9 * job.template_);
  EXPECT_EQ(job.lane().owner_limit, job.template_);
  EXPECT_EQ(job.lowest_owner_, job.template_) << "in any window";
  job.Restart();
  // After the withdrawal of an order, tasks and the series may still have the ordered limit, which is not the
  // owner's limit.
  ASSERT_TRUE(
      Set(job.fleet(), JobId{0}, "mode", "observe", WindowId{8 * kWindowsPerDay}.start_s(), job.out_).ok());
  job.Restart();
  job.Run(50);
  EXPECT_EQ(job.lowest_owner_, job.template_);
}

// Savings refer to the owner's request. A request set by Tautline must not replace the owner's request, even
// after a restart.
TEST(LiveOwners, ARequestThatIsReadBackIsNotTheOwnersEither) {
  ReadBack job;
  job.has_request_ = true;
  job.Run(8 * kWindowsPerDay);
  ASSERT_LT(*job.lane().gate.in_force, 0.9 * job.template_);
  EXPECT_EQ(job.lane().owner_request, job.template_ / 2);
  job.Restart();
  job.seen_ = {700 * kMiB, 700 * kMiB, 700 * kMiB};
  job.Run(1);
  EXPECT_EQ(job.lane().owner_request, 350 * kMiB) << "another amount is the owner's";
}

// A job also sleeps for some time after a restart.
TEST(LiveOwners, ABoundThatChangesWhileAJobSleepsHoldsAtOnce) {
  for (const bool by_label : {true, false}) {
    ReadBack job;
    job.Run(5 * kWindowsPerDay);
    ASSERT_LT(job.lane().gate.in_force.value_or(job.template_), 0.9 * job.template_);
    PutToSleep(WindowId{6 * kWindowsPerDay}, job.fleet());
    ASSERT_TRUE(job.fleet().job(JobId{0}).sleeps());
    const int64_t now_s = WindowId{6 * kWindowsPerDay}.start_s();
    job.out_.Clear();
    if (by_label) {
      const KeyValue lower{std::string(kSettingLabel) + "memory.lower", "600MiB"};
      EXPECT_TRUE(job.fleet().owners.SetLabels(JobId{0}, {&lower, 1}, now_s, job.out_));
    } else {
      ASSERT_TRUE(Set(job.fleet(), JobId{0}, "memory.lower", "600MiB", now_s, job.out_).ok());
    }
    EXPECT_EQ(job.lane().gate.in_force, 600 * kMiB);
    ASSERT_EQ(job.out_.decisions.size(), 1U);
    EXPECT_TRUE(LoadReason(job.out_.decisions[0].reason).ok());
  }
}

// Series lag: three orders are sent within a window, and the series then reports the first ordered limit.
TEST(LiveOwners, AnOrderBeforeTheLastOneIsNotTheOwnersEither) {
  ReadBack job;
  job.Run(8 * kWindowsPerDay);
  const double first = *job.lane().gate.in_force;
  const int64_t now_s = WindowId{8 * kWindowsPerDay}.start_s() + 10;
  for (const char* const lower : {"560MiB", "580MiB", "600MiB"}) {
    const KeyValue label{std::string(kSettingLabel) + "memory.lower", lower};
    ASSERT_TRUE(job.fleet().owners.SetLabels(JobId{0}, {&label, 1}, now_s, job.out_));
  }
  ASSERT_EQ(job.lane().gate.in_force, 600 * kMiB);
  job.seen_ = {first, 560 * kMiB, 580 * kMiB, 600 * kMiB};
  job.Run(4);
  EXPECT_EQ(job.lane().owner_limit, job.template_);
}

TEST(LiveOwners, AnotherAmountIsTheOwners) {
  ReadBack job;
  job.Run(5 * kWindowsPerDay);
  ASSERT_TRUE(job.lane().gate.in_force.has_value());
  job.seen_ = {700 * kMiB, 700 * kMiB, 700 * kMiB};
  job.Run(3);
  EXPECT_EQ(job.lane().owner_limit, 700 * kMiB);
  job.Run(10);
  EXPECT_EQ(job.lane().owner_limit, 700 * kMiB) << "while the order is read back again";
}

// A dry run sets no limit, so a reported limit that equals the recommendation is the owner's limit.
TEST(LiveOwners, WhereNothingIsSetTheLimitIsTheOwners) {
  ReadBack job(Enforcement::kNever);
  job.Run(5 * kWindowsPerDay);
  ASSERT_TRUE(job.lane().gate.in_force.has_value());
  EXPECT_LT(job.lowest_owner_, job.template_);
}

// A cell with one job in mode auto whose owner's settings have not been read yet.
class Unasked {
 public:
  Unasked() : cell_(1), fleet_(Settings(Policy::kMovingWindow, Mode::kAuto)) {
    fleet_.owners.Await();
    AddJobs(fleet_, 1);
  }
  std::vector<Decision> Run(int windows) {
    out_.Clear();
    for (int i = 0; i < windows; ++i) Step(fleet_, cell_.windows()[static_cast<size_t>(next_++)], out_);
    return out_.decisions;
  }
  std::vector<Decision> Kill(double limit) {
    out_.Clear();
    OomRecord oom{kJob, 0, WindowId{next_}.start_s() + 10, 1, limit};
    fleet_.kills.TakeOom(oom, out_);
    return out_.decisions;
  }
  std::vector<Decision> Settle(std::optional<std::vector<KeyValue>> labels) {
    out_.Clear();
    fleet_.owners.Settle(kJob, labels.has_value() ? &*labels : nullptr, WindowId{next_}.start_s() + 20, out_);
    return out_.decisions;
  }
  void Skip(int windows) { next_ += windows; }
  const LiveLane& lane() { return job().of(Resource::kMemory); }
  const LiveJob& job() { return fleet_.job(kJob); }
  LiveFleet& fleet() { return fleet_; }

 private:
  static constexpr JobId kJob{0};
  Cell cell_;
  LiveFleet fleet_;
  PassOutput out_;
  int next_ = 0;
};

TEST(LiveOwners, NothingIsDecidedBeforeTheOwnersSettingsAreKnown) {
  Unasked off;
  EXPECT_TRUE(off.Run(2 * kWindowsPerDay).empty());
  EXPECT_EQ(off.lane().hold, "the settings and bounds of its owner are not known yet");
  EXPECT_TRUE(off.Kill(512 * kMiB).empty()) << "nor after a kill";
  EXPECT_TRUE(off.Settle({{{"tautline.dev/mode", "off"}}}).empty());
  EXPECT_TRUE(off.Run(kWindowsPerDay).empty());
  EXPECT_TRUE(off.Kill(512 * kMiB).empty());

  Unasked free;
  EXPECT_TRUE(free.Run(2 * kWindowsPerDay).empty());
  EXPECT_TRUE(free.Settle(std::nullopt).empty()) << "no kill waits: the next window decides";
  EXPECT_FALSE(free.Run(1).empty());
  EXPECT_TRUE(free.lane().gate.in_force.has_value());
}

TEST(LiveOwners, AKillThatWaitedRaisesWithinTheBoundsOnceTheyAreKnown) {
  Unasked job;
  job.Run(2);
  EXPECT_TRUE(job.Kill(512 * kMiB).empty());
  const std::vector<Decision> decisions = job.Settle({{{"tautline.dev/memory.upper", "560Mi"}}});
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kOomRaise);
  EXPECT_EQ(decisions[0].after, 560 * kMiB);
}

// The labels are set while the job waits for its owner's settings, and are equal when the wait ends.
TEST(LiveOwners, ABoundThatCameDuringTheWaitHoldsWhenItEnds) {
  Unasked job;
  job.Settle(std::nullopt);
  job.Run(2 * kWindowsPerDay);
  job.Settle(std::nullopt);
  ASSERT_FALSE(job.Kill(512 * kMiB).empty());
  job.Skip(2);
  job.Run(1);
  ASSERT_TRUE(job.job().awaits_owner) << "its tasks were away";
  const std::vector<KeyValue> labels = {{"tautline.dev/memory.upper", "100Mi"}};
  PassOutput out;
  EXPECT_TRUE(job.fleet().owners.SetLabels(JobId{0}, labels, WindowId{3 * kWindowsPerDay}.start_s(), out));
  EXPECT_TRUE(out.decisions.empty());
  EXPECT_FALSE(job.Settle(labels).empty());
  EXPECT_EQ(job.lane().gate.in_force, 100 * kMiB);
  EXPECT_TRUE(job.Settle(labels).empty()) << "once";
}

// History contains the usage but not the owner's settings. A first decision without a known limit would not be
// restricted to steps.
TEST(LiveOwners, NothingIsDecidedFromHistoryBeforeAWindowSaysWhatTheOwnerHasSet) {
  Cell cell(1);
  LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kAuto);
  settings.enforcement = Enforcement::kAlways;
  LiveFleet fleet(std::move(settings));
  fleet.owners.Await();
  AddJobs(fleet, 1);
  PassOutput out;
  const int past = 4 * kWindowsPerDay;
  for (int i = 0; i < past; ++i) {
    ClosedWindow closed = cell.windows()[static_cast<size_t>(i)];
    closed.jobs[0].window.memory_limit_bytes = closed.jobs[0].window.cpu_limit_cores = kAbsent;
    fleet.pass.Observe(closed, 0, 1, out, When::kPast);
    fleet.pass.EndWindow(closed, out, When::kPast);
    fleet.pass.Decide(closed, 0, 1, out, When::kPast);
  }
  out.Clear();
  const std::vector<KeyValue> labels = {{"tautline.dev/change_period", "0s"}};
  fleet.owners.Settle(JobId{0}, &labels, WindowId{past}.start_s(), out);
  EXPECT_TRUE(out.decisions.empty()) << out.decisions.front().reason;
  EXPECT_FALSE(fleet.job(JobId{0}).of(Resource::kMemory).hold.empty()) << "it says why";
  EXPECT_FALSE(fleet.owners.Knows(JobId{0})) << "a kill now is answered from what series say";
  ClosedWindow now = cell.windows()[past];
  now.jobs[0].window.memory_limit_bytes = 4096 * kMiB;
  Step(fleet, now, out);
  const auto memory = std::ranges::find(out.decisions, Target(Resource::kMemory), &Decision::target);
  ASSERT_NE(memory, out.decisions.end());
  EXPECT_EQ(memory->before, 4096 * kMiB);
  EXPECT_EQ(memory->after, 2048 * kMiB) << "the first step";
}

// A new bound also applies to a recommendation that was computed before the bound was set.
TEST(LiveOwners, AnotherBoundHoldsAtOnce) {
  Unasked job;
  job.Settle(std::nullopt);
  job.Run(2 * kWindowsPerDay);
  job.Settle(std::nullopt);
  ASSERT_FALSE(job.Kill(512 * kMiB).empty());
  const double before = *job.lane().gate.in_force;
  PassOutput out;
  const std::vector<KeyValue> labels = {{"tautline.dev/change_period", "0s"},
                                        {"tautline.dev/memory.upper", "100Mi"}};
  EXPECT_TRUE(job.fleet().owners.SetLabels(JobId{0}, labels, WindowId{3 * kWindowsPerDay}.start_s(), out));
  EXPECT_LT(*job.lane().gate.in_force, before);
  EXPECT_EQ(job.lane().gate.in_force, 100 * kMiB);
}

TEST(LiveOwners, TheOwnerIsAskedAgainWhenTasksReturn) {
  Unasked job;
  uint32_t cursor = 0;
  EXPECT_EQ(job.fleet().owners.Awaiting(9, cursor).size(), 1U);
  job.Settle(std::nullopt);
  job.Run(1);
  EXPECT_TRUE(job.job().awaits_owner) << "the first window says what the owner's amounts are";
  job.Settle(std::nullopt);
  job.Run(3);
  EXPECT_FALSE(job.job().awaits_owner);
  EXPECT_TRUE(job.fleet().owners.Awaiting(9, cursor).empty());
  job.Skip(1);
  job.Run(1);
  EXPECT_TRUE(job.job().awaits_owner);
  EXPECT_EQ(job.fleet().owners.Awaiting(9, cursor).size(), 1U) << "the cursor starts again";
}

// A new workload crashes repeatedly before its first window is closed.
TEST(LiveOwners, AKillBeforeTheFirstWindowIsAtTheLimitThatSeriesSay) {
  Unasked job;
  job.Settle(std::nullopt);
  job.fleet().owners.Learn(JobId{0}, 64 * kMiB);
  PassOutput out;
  OomRecord oom{JobId{0}, 0, 10, 1, std::nullopt};
  job.fleet().kills.TakeOom(oom, out);
  EXPECT_EQ(oom.limit, 64 * kMiB);
  ASSERT_EQ(out.decisions.size(), 1U);
  EXPECT_EQ(out.decisions[0].kind, DecisionKind::kOomRaise);
  EXPECT_EQ(out.decisions[0].before, 64 * kMiB);
  EXPECT_GT(out.decisions[0].after, 64 * kMiB);
  job.Run(1);
  job.fleet().owners.Learn(JobId{0}, 99 * kMiB);
  EXPECT_EQ(job.lane().owner_limit, 512 * kMiB) << "windows say it now";
}

}  // namespace
}  // namespace taut::brain
