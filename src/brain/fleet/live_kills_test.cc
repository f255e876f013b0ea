// Tests that kills are attributed to the limits in force, and tests of the first decision after a kill.
#include <algorithm>
#include <string>
#include <utility>

#include "brain/fleet/live_fixture.h"
#include "brain/fleet/live_fleet.h"
#include "brain/recommend/wrappers.h"
#include "common/model/oom_counts.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr JobId kKilled{1};

// A fleet after two days with an actuator that sets limits. Job 1 has two tasks, and a limit far below the
// owner's limit of 1 GiB.
class LiveKills : public testing::Test {
 protected:
  LiveKills() : fleet_(Enforced()) {
    AddJobs(fleet_, 2);
    const Cell cell(2);
    for (int w = 0; w < 600; ++w) Step(fleet_, cell.windows()[static_cast<size_t>(w)], out_);
    out_.Clear();
  }
  static LiveSettings Enforced() {
    LiveSettings settings = Settings(Policy::kEnsemble, Mode::kAuto);
    settings.enforcement = Enforcement::kAlways;
    return settings;
  }
  static int64_t At(int second) { return WindowId{600}.start_s() + second; }
  double InForce() const { return *fleet_.job(kKilled).of(Resource::kMemory).gate.in_force; }
  // Returns the decisions after a kill at `time`, reported at `seen`. Without `limit`, the limit of the kill is
  // unknown.
  std::vector<Decision> Kill(int time, int seen, std::optional<double> limit = {}) {
    out_.Clear();
    OomRecord oom{kKilled, 0, At(time), 1, limit};
    fleet_.kills.TakeOom(oom, out_, When::kNow, {.since_s = At(time), .now_s = At(seen)});
    charged_ = oom.limit.value_or(0);
    return out_.decisions;
  }
  void Applied(const Decision& d, int time) {
    fleet_.orders.NoteSent(d, d.time_s);
    OutcomeUpdate outcome;
    outcome.id = d.id;
    outcome.time_s = At(time);
    fleet_.orders.TakeOutcome(outcome);
  }

  LiveFleet fleet_;
  PassOutput out_;
  double charged_ = 0;
};

TEST_F(LiveKills, OneFromBeforeARaiseIsChargedToTheLimitOfThenAndRaisesNothingMore) {
  const double before = InForce();
  const std::vector<Decision> raise = Kill(10, 11);
  ASSERT_EQ(raise.size(), 1U);
  EXPECT_EQ(raise[0].time_s, At(11)) << "decided when it was seen";
  Applied(raise[0], 13);
  const double raised = InForce();
  ASSERT_GT(raised, before);
  // Another task was killed at about the same time, but its restart is reported only after a back-off.
  EXPECT_TRUE(Kill(9, 200).empty());
  EXPECT_EQ(charged_, before);
  EXPECT_TRUE(Kill(12, 210).empty()) << "the raise was on its way";
  EXPECT_EQ(charged_, before);
  EXPECT_EQ(InForce(), raised);
  EXPECT_EQ(Kill(20, 220).size(), 1U) << "a kill under the raised limit";
  EXPECT_EQ(charged_, raised);
}

TEST_F(LiveKills, SeveralOfOnePassAreOfOneLimit) {
  const double before = InForce();
  EXPECT_EQ(Kill(10, 11).size(), 1U);
  EXPECT_TRUE(Kill(10, 11).empty());
  EXPECT_EQ(charged_, before);
}

TEST_F(LiveKills, ALimitThatWasNeverInForceIsNotCharged) {
  const double before = InForce();
  const std::vector<Decision> raise = Kill(10, 11);
  ASSERT_EQ(raise.size(), 1U);
  fleet_.orders.NoteSent(raise[0], At(11));
  OutcomeUpdate failed;
  failed.id = raise[0].id;
  failed.outcome = Outcome::kFailed;
  failed.time_s = At(12);
  fleet_.orders.TakeOutcome(failed);
  EXPECT_TRUE(Kill(100, 101).empty());
  EXPECT_EQ(charged_, before);
}

TEST_F(LiveKills, ARestartRemembersTheLimitBefore) {
  const double before = InForce();
  std::vector<Decision> raise = Kill(10, 11);
  ASSERT_EQ(raise.size(), 1U);
  const std::string saved = Chunk(fleet_);
  LiveFleet again(Enforced());
  AddJobs(again, 2);
  ByteReader in(saved);
  ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{600}, in).ok());
  raise[0].outcome = Outcome::kApplied;
  raise[0].outcome_time_s = At(12);
  again.orders.RememberSent(raise[0]);
  again.restore.End(raise[0].id, 0);
  OomRecord oom{kKilled, 0, At(9), 1, std::nullopt};
  PassOutput out;
  again.kills.TakeOom(oom, out, When::kNow, {.since_s = At(9), .now_s = At(300)});
  EXPECT_EQ(oom.limit, before);
  EXPECT_TRUE(out.decisions.empty());
}

TEST_F(LiveKills, ARestartBeforeTheFirstWindowRemembersTheOwnersLimit) {
  LiveFleet young(Enforced());
  AddJobs(young, 2);
  PassOutput out;
  const double owner = 196 * kMiB;
  OomRecord oom{kKilled, 0, At(10), 1, owner};
  young.owners.Learn(kKilled, owner);
  young.kills.TakeOom(oom, out, When::kNow, {.since_s = At(10), .now_s = At(11)});
  ASSERT_EQ(out.decisions.size(), 1U);
  LiveFleet again(Enforced());
  AddJobs(again, 2);
  again.restore.Redo(out.decisions[0]);
  EXPECT_EQ(again.job(kKilled).of(Resource::kMemory).owner(), owner);
}

TEST_F(LiveKills, TheOwnersLimitIsTheFirstAnswer) {
  const double owner = *fleet_.job(kKilled).of(Resource::kMemory).owner();
  ASSERT_LT(OomBump(InForce(), OomSettings()), owner) << "a raise of its own is smaller";
  const std::vector<Decision> raise = Kill(10, 11);
  ASSERT_EQ(raise.size(), 1U);
  EXPECT_EQ(raise[0].kind, DecisionKind::kOomRaise);
  EXPECT_EQ(raise[0].after, owner);
}

TEST_F(LiveKills, TheAnswerKeepsTheBounds) {
  PassOutput out;
  const double upper = 900 * kMiB;
  ASSERT_LT(InForce(), upper);
  ASSERT_TRUE(Set(fleet_, kKilled, "memory.upper", "900MiB", At(1), out).ok());
  const std::vector<Decision> raise = Kill(10, 11);
  ASSERT_EQ(raise.size(), 1U);
  EXPECT_EQ(raise[0].after, upper);
}

TEST_F(LiveKills, OneOfAnInitContainerIsCountedAndRaisesNothing) {
  OomRecord oom{kKilled, kAsideTask, At(10), 2, std::nullopt};
  const double before = InForce();
  fleet_.kills.TakeOom(oom, out_);
  EXPECT_TRUE(out_.decisions.empty());
  EXPECT_EQ(out_.point.oom_kills, 2U);
  EXPECT_EQ(InForce(), before);
  EXPECT_EQ(fleet_.job(kKilled).OomsOfWeek(WindowId{600}.day()), 2U);
}

TEST_F(LiveKills, AnAbsurdCountIsBounded) {
  OomRecord oom{kKilled, 0, At(10), UINT64_MAX, std::nullopt};
  fleet_.kills.TakeOom(oom, out_);
  EXPECT_EQ(oom.kills, kMostKillsAtOnce);
  EXPECT_EQ(out_.point.oom_kills, kMostKillsAtOnce);
}

// Two tasks were killed in the same second, and the checkpoint contains neither kill.
TEST_F(LiveKills, ARestoreTakesEachOfOneSecond) {
  const OomRecord oom{kKilled, 0, At(10), 1, 1e8};
  const std::string saved = Chunk(fleet_);
  LiveFleet again(Enforced());
  AddJobs(again, 2);
  ByteReader in(saved);
  ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{599}, in).ok());
  again.restore.Redo(oom);
  again.restore.Redo(oom);
  EXPECT_EQ(again.job(kKilled).OomsOfWeek(WindowId{600}.day()), 2U);
}

// A kill is reported late, and the checkpoint already contains a later kill.
TEST_F(LiveKills, ARestoreTakesOneToldLate) {
  Kill(20, 21, 1e8);
  const std::string saved = Chunk(fleet_);
  OomRecord late{kKilled, 0, At(10), 1, 1e8};
  fleet_.kills.TakeOom(late, out_);
  ASSERT_EQ(late.id, 2U);
  LiveFleet again(Enforced());
  AddJobs(again, 2);
  ByteReader in(saved);
  ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{599}, in).ok());
  again.restore.Redo({kKilled, 0, At(20), 1, 1e8, {}, {}, 1});
  again.restore.Redo(late);
  EXPECT_EQ(again.job(kKilled).OomsOfWeek(WindowId{600}.day()), 2U);
}

TEST_F(LiveKills, APeakThatStoodBeforeARestartIsNotNew) {
  const auto meet = [](LiveFleet& fleet, const std::vector<float>& peaks, int32_t window) {
    fleet.kills.TakeKernelPeaks(kKilled, {0, peaks, peaks}, WindowId{window});
  };
  const std::vector<float> two = {static_cast<float>(100 * kMiB), static_cast<float>(80 * kMiB)};
  meet(fleet_, two, 600);
  const std::string saved = Chunk(fleet_);
  LiveFleet again(Enforced());
  AddJobs(again, 2);
  ByteReader in(saved);
  ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{600}, in).ok());
  const RecentPeaks& peaks = again.job(kKilled).memory->kernel_peaks;
  const double slice_s = again.settings.vertical.moving_window.memory_half_life_s / 2;
  const auto forgotten = static_cast<int32_t>(601 * kWindowSeconds / slice_s) + RecentPeaks::kSlices;
  ASSERT_EQ(peaks.Highest(forgotten - 1), 100 * kMiB);
  ASSERT_EQ(peaks.Highest(forgotten), std::nullopt);
  meet(again, two, 600 + 3 * kWindowsPerDay);
  EXPECT_EQ(peaks.Highest(forgotten), std::nullopt) << "both stood before";
  meet(again, two, 600 + 3 * kWindowsPerDay);
  EXPECT_EQ(peaks.Highest(forgotten), 100 * kMiB) << "of tasks that are new";
}

TEST_F(LiveKills, NoCutGoesBelowWhatTheKernelSawInTheLastWeek) {
  PassOutput out;
  const double usual = InForce();
  ASSERT_TRUE(Set(fleet_, kKilled, "mode", "off", At(1), out).ok());
  fleet_.kills.TakeKernelPeaks(kKilled, {900 * kMiB, {}, {}}, WindowId{600});
  fleet_.kills.TakeKernelPeaks(kKilled, {1024 * kMiB, {}, {}},
                               WindowId{600});  // the peak is at the limit, where the kernel reclaims memory
  fleet_.kills.TakeKernelPeaks(JobId{77}, {1, {}, {}}, WindowId{600});  // the job is unknown
  ASSERT_TRUE(Set(fleet_, kKilled, "mode", "auto", At(2000), out).ok());
  const Cell cell(2);
  double lowest = 1e18;
  for (size_t w = 620; w < 620 + kWindowsPerDay; ++w) {
    Step(fleet_, cell.windows()[w], out);
    if (fleet_.job(kKilled).of(Resource::kMemory).gate.in_force.has_value())
      lowest = std::min(lowest, InForce());
  }
  EXPECT_EQ(lowest, 900 * kMiB);
  ASSERT_LT(usual, lowest);
}

// The recommendation is computed at the end of a window, so it does not respect a new bound at first.
TEST_F(LiveKills, NeitherGrowthNorAKillRaisesAboveABoundThatWasJustSet) {
  const double before = InForce(), bound = before / 2;
  ASSERT_TRUE(Set(fleet_, kKilled, "memory.upper", StrCat(bound), At(10), out_).ok());
  ASSERT_EQ(InForce(), bound);
  out_.Clear();
  fleet_.kills.TakeGrowth(kKilled, 1.01 * before, At(20), out_);
  Kill(30, 31);
  EXPECT_EQ(InForce(), bound);
}

TEST_F(LiveKills, GrowthIsRaisedBeforeItsKillUpToTheOwnersLimit) {
  const double before = InForce(), owner = *fleet_.job(kKilled).of(Resource::kMemory).owner();
  const auto lowered = fleet_.kills.LoweredLimits();
  const auto its = std::ranges::find(lowered, kKilled, &std::pair<JobId, double>::first);
  ASSERT_NE(its, lowered.end());
  EXPECT_EQ(its->second, before);
  out_.Clear();
  fleet_.kills.TakeGrowth(kKilled, 0.9 * before, At(20), out_);
  EXPECT_TRUE(out_.decisions.empty()) << "it stays under the limit";
  fleet_.kills.TakeGrowth(kKilled, 1.01 * before, At(20), out_);
  ASSERT_EQ(out_.decisions.size(), 1U);
  EXPECT_EQ(out_.decisions[0].kind, DecisionKind::kSet);
  EXPECT_NE(out_.decisions[0].sentence.find("raised before usage, which grows"), std::string::npos);
  EXPECT_GT(InForce(), 1.1 * before);
  EXPECT_LT(InForce(), owner);
  out_.Clear();
  fleet_.kills.TakeGrowth(kKilled, 100 * owner, At(40), out_);
  ASSERT_EQ(out_.decisions.size(), 1U);
  EXPECT_EQ(InForce(), owner);
  out_.Clear();
  fleet_.kills.TakeGrowth(kKilled, 100 * owner, At(60), out_);
  EXPECT_TRUE(out_.decisions.empty());
  EXPECT_TRUE(
      std::ranges::none_of(fleet_.kills.LoweredLimits(), [](const auto& l) { return l.first == kKilled; }));
}

}  // namespace
}  // namespace taut::brain
