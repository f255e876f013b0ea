// Tests of an external recommender's answers in the live fleet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "brain/fleet/live_fixture.h"

namespace taut::brain {
namespace {

using testing::HasSubstr;

// Jobs 0 and 1 use an external recommender, other jobs do not.
LiveSettings SomeExternal(Mode mode = Mode::kAuto) {
  LiveSettings settings = Settings(Policy::kPeak, mode);
  JobPolicy defaults;
  defaults.recommender = Policy::kPeak;
  defaults.mode = mode;
  const JobRule rule{"external", {{"job", "job-0|job-1"}}, {{"external", "true"}}};
  settings.rules = *PolicyRules::Compile({rule}, defaults);
  return settings;
}

ExternalAnswer Memory(uint32_t job, double bytes, WindowId until, std::string why = "measured by hand") {
  return {
      .job = JobId{job}, .target = Resource::kMemory, .value = bytes, .why = std::move(why), .until = until};
}

class LiveExternal : public testing::Test {
 protected:
  // Steps the cell up to window `windows`; out_ then has the decisions of the last window.
  void Run(size_t windows) {
    for (; next_ < windows; ++next_) {
      out_.Clear();
      Step(fleet_, cell_.windows()[next_], out_);
    }
  }
  WindowId After(int windows) const { return WindowId{cell_.windows()[next_ - 1].window.index + windows}; }
  std::optional<double> Recommended(uint32_t job) const {
    return fleet_.job(JobId{job}).of(Resource::kMemory).lane.recommended();
  }

  // Returns the memory recommendation for job 0 of a fleet that is restored from fleet_ and takes the next window.
  std::optional<double> RecommendedAfterARestart() {
    const std::string chunk = Chunk(fleet_);
    LiveFleet restored(SomeExternal());
    for (uint32_t j = 0; j < 4; ++j) restored.AddRestoredJob({JobId{j}, "job-" + std::to_string(j), {}, 0});
    ByteReader in(chunk);
    EXPECT_TRUE(restored.checkpoint.LoadChunk(0, cell_.windows()[next_ - 1].window, in).ok());
    restored.restore.End(100, 100);
    out_.Clear();
    Step(restored, cell_.windows()[next_], out_);
    return restored.job(JobId{0}).of(Resource::kMemory).lane.recommended();
  }

  Cell cell_{4};
  LiveFleet fleet_{SomeExternal()};
  PassOutput out_;
  size_t next_ = 0;
};

TEST_F(LiveExternal, IsAskedAboutJobsThatWantItAndAnswersAtOnce) {
  AddJobs(fleet_, 4);
  Run(300);
  std::vector<ExternalJob> asked;
  const ClosedWindow& closed = cell_.windows()[next_ - 1];
  fleet_.external.Jobs(closed, 0, closed.jobs.size(), asked);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[1].name, "job-1");
  EXPECT_EQ(asked[1].tasks.size(), closed.jobs[1].window.num_tasks);
  EXPECT_EQ(asked[1].of(Resource::kMemory).recommended, Recommended(1));
  out_.Clear();
  ASSERT_TRUE(fleet_.external.Take(Memory(1, 4 * kGiB, After(3)), 0, out_));
  EXPECT_EQ(Recommended(1), 4 * kGiB);
  ASSERT_EQ(out_.decisions.size(), 1U);
  EXPECT_EQ(out_.decisions[0].after, 4 * kGiB);
  EXPECT_GT(out_.decisions[0].time_s, closed.window.next().start_s());
  EXPECT_THAT(fleet_.risk.Explain(JobId{1}, Resource::kMemory).sentence, HasSubstr("measured by hand"));
  EXPECT_FALSE(fleet_.external.Take(Memory(2, 4 * kGiB, After(3)), 0, out_)) << "it does not ask";
  EXPECT_FALSE(fleet_.external.Take(Memory(9, 4 * kGiB, After(3)), 0, out_)) << "it is not known";
}

TEST_F(LiveExternal, AnAnswerExpiresAndTheJobsOwnRecommenderTakesOver) {
  AddJobs(fleet_, 4);
  LiveFleet alone(Settings(Policy::kPeak, Mode::kAuto));
  AddJobs(alone, 4);
  Run(300);
  ASSERT_TRUE(fleet_.external.Take(Memory(0, 4 * kGiB, After(3)), 0, out_));
  Run(302);
  EXPECT_EQ(Recommended(0), 4 * kGiB);
  Run(303);
  PassOutput ignored;
  for (size_t i = 0; i < next_; ++i) Step(alone, cell_.windows()[i], ignored);
  EXPECT_EQ(Recommended(0), alone.job(JobId{0}).of(Resource::kMemory).lane.recommended());
  EXPECT_THAT(fleet_.risk.Explain(JobId{0}, Resource::kMemory).sentence, HasSubstr("expired"));
}

TEST_F(LiveExternal, AnswersThatAlternateAreNotFollowedDown) {
  AddJobs(fleet_, 4);
  Run(300);
  ASSERT_TRUE(fleet_.external.Take(Memory(0, 4 * kGiB, After(6)), 0, out_));
  for (int i = 1; i <= 24; ++i) {
    Run(300 + i);
    ASSERT_TRUE(fleet_.external.Take(Memory(0, (i % 2 == 0 ? 4 : 0.25) * kGiB, After(6)), 0, out_));
    EXPECT_EQ(Recommended(0), 4 * kGiB) << i;
  }
  for (int i = 1; i <= 12; ++i) {
    EXPECT_EQ(Recommended(0), 4 * kGiB) << i;
    Run(324 + i);
    ASSERT_TRUE(fleet_.external.Take(Memory(0, 3 * kGiB, After(6)), 0, out_));
  }
  EXPECT_EQ(Recommended(0), 3 * kGiB) << "the answers of an hour agree";
}

TEST_F(LiveExternal, ARestartKeepsTheHeldAnswer) {
  AddJobs(fleet_, 4);
  Run(300);
  ASSERT_TRUE(fleet_.external.Take(Memory(0, 4 * kGiB, After(30)), 0, out_));
  Run(301);
  ASSERT_TRUE(fleet_.external.Take(Memory(0, 3 * kGiB, After(30)), 0, out_));
  EXPECT_THAT(fleet_.risk.Explain(JobId{0}, Resource::kMemory).steps,
              testing::Contains(testing::Field(&ReasonStep::what, "highest answer of the last 60 min")));
  EXPECT_EQ(RecommendedAfterARestart(), 4 * kGiB);
}

TEST_F(LiveExternal, IsToldTheJobsOwnRecommendationAlsoWhileAnAnswerHolds) {
  AddJobs(fleet_, 4);
  Run(300);
  ASSERT_TRUE(fleet_.external.Take(Memory(0, 64 * kGiB, After(6)), 0, out_));
  Run(301);
  std::vector<ExternalJob> asked;
  const ClosedWindow& closed = cell_.windows()[next_ - 1];
  fleet_.external.Jobs(closed, 0, closed.jobs.size(), asked);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].of(Resource::kMemory).limit_in_force, 64 * kGiB);
  EXPECT_LT(asked[0].of(Resource::kMemory).recommended, 16 * kGiB);
}

TEST_F(LiveExternal, BoundsHoldForAnswers) {
  AddJobs(fleet_, 4);
  Run(300);
  ASSERT_TRUE(Set(fleet_, JobId{0}, "memory.upper", "1GiB", 0, out_).ok());
  ASSERT_TRUE(fleet_.external.Take(Memory(0, 4 * kGiB, After(3)), 0, out_));
  EXPECT_EQ(Recommended(0), 1 * kGiB);
}

TEST_F(LiveExternal, ARestartKeepsTheAnswer) {
  AddJobs(fleet_, 4);
  Run(300);
  ASSERT_TRUE(fleet_.external.Take(Memory(0, 4 * kGiB, After(30)), 0, out_));
  EXPECT_EQ(RecommendedAfterARestart(), 4 * kGiB);
}

TEST_F(LiveExternal, WithoutTheSettingAnAnswerIsForgotten) {
  AddJobs(fleet_, 4);
  Run(300);
  ASSERT_TRUE(fleet_.external.Take(Memory(0, 4 * kGiB, After(30)), 0, out_));
  ASSERT_TRUE(Set(fleet_, JobId{0}, "external", "false", 0, out_).ok());
  EXPECT_EQ(WantedOf(fleet_), std::vector{JobId{0}});
  fleet_.history.Retrain(JobId{0}, {}, {});
  Run(301);
  EXPECT_NE(Recommended(0), 4 * kGiB);
}

}  // namespace
}  // namespace taut::brain
