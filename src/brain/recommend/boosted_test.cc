#include "brain/recommend/boosted.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/recommend/comparators.h"
#include "brain/recommend/made_signal.h"
#include "common/base/byte_units.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

BoostedSettings SmallSettings() {
  BoostedSettings s;
  s.min_lessons = 100;
  s.min_days = 2;
  s.max_lessons = 2000;
  s.trees = 50;
  return s;
}

// A fleet of jobs with usage that rises in one hour of each day, different for each job.
class TestFleet {
 public:
  explicit TestFleet(Resource resource, int jobs = 12, double order = 0.03,
                     BoostedSettings settings = SmallSettings())
      : resource_(resource), fleet_(resource, settings, {order, std::max(0.1, 3 * order)}) {
    for (int i = 0; i < jobs; ++i) jobs_.push_back(Make(static_cast<uint64_t>(i)));
  }

  std::unique_ptr<BoostedRecommender> Make(uint64_t job, std::optional<double> order = {}) {
    return std::make_unique<BoostedRecommender>(fleet_,
                                                NewPeakRecommender(resource_, PeakSettings(), OomSettings()),
                                                OomSettings(), BoostedJob{MixBits(job), order});
  }

  double UsageOf(uint64_t job, int32_t window) const {
    const double unit = ThrottlesAtLimit(resource_) ? 1 : kGiB;
    Rng rng = Rng(job).Fork(static_cast<uint64_t>(window));
    const auto hour = static_cast<uint64_t>(window / kWindowsPerHour % 24);
    return unit * (hour == job % 24 ? 4 : 1) * (1 + 0.1 * rng.Uniform());
  }

  void Step(Recommender& job, uint64_t number, int32_t window) const {
    job.Observe(MadeSignal(resource_, window, UsageOf(number, window), 8 * UsageOf(0, 0)));
    job.Recommend(WindowId{window + 1});
  }

  // Steps all jobs through the days [day_, day_ + days).
  void Run(int days) {
    for (const int32_t end = day_ + days; day_ < end; ++day_) {
      FleetShare share(day_, AnalogSettings(), fleet_.settings());
      share.boosted.sample.Limit(fleet_.sample_bound());
      for (size_t i = 0; i < jobs_.size(); ++i) {
        jobs_[i]->StartDay(day_);
        for (int32_t w = day_ * kWindowsPerDay; w < (day_ + 1) * kWindowsPerDay; ++w) Step(*jobs_[i], i, w);
        FleetRows rows;
        jobs_[i]->EndDay(day_, rows);
        for (FleetRow& row : rows) row.job = MixBits(i);
        share.Add(rows);
      }
      fleet_.CloseDay(std::move(share.boosted));
    }
  }

  BoostedFleet& fleet() { return fleet_; }
  std::vector<std::unique_ptr<BoostedRecommender>>& jobs() { return jobs_; }
  int32_t day() const { return day_; }

 private:
  Resource resource_;
  BoostedFleet fleet_;
  std::vector<std::unique_ptr<BoostedRecommender>> jobs_;
  int32_t day_ = 0;
};

template <typename T>
std::string Saved(const T& object) {
  std::string bytes;
  ByteWriter out(&bytes);
  object.Save(out);
  return bytes;
}

TEST(Boosted, TheFallbackRecommendsUntilTheFleetIsReady) {
  TestFleet fleet(Resource::kMemory);
  fleet.Run(2);
  EXPECT_FALSE(fleet.fleet().ready());
  Reason reason;
  fleet.jobs()[0]->Explain(reason);
  EXPECT_NE(reason.sentence.find("too young"), std::string::npos) << reason.sentence;
  EXPECT_FALSE(fleet.jobs()[0]->OverrunChance(kGiB).has_value());
  fleet.Run(2);
  EXPECT_TRUE(fleet.fleet().ready());
  EXPECT_TRUE(fleet.fleet().training_status().ok());
}

TEST(Boosted, AFleetWithTooFewLessonsNeverForecasts) {
  BoostedSettings settings = SmallSettings();
  settings.min_lessons = 1000;
  TestFleet fleet(Resource::kMemory, 1, 0.03, settings);
  fleet.Run(6);
  EXPECT_FALSE(fleet.fleet().ready());
  EXPECT_TRUE(fleet.jobs()[0]->Recommend(WindowId{6 * kWindowsPerDay}).has_value());
}

class BoostedByResource : public testing::TestWithParam<Resource> {};

TEST_P(BoostedByResource, LimitsMoveWithinTheDay) {
  BoostedSettings settings = SmallSettings();
  settings.memory_fall_hours = settings.cpu_fall_hours = 0.1;
  settings.memory_rise_hours = settings.cpu_rise_hours = 0.01;
  TestFleet fleet(GetParam(), 12, ThrottlesAtLimit(GetParam()) ? 0.02 : 0.1, settings);
  fleet.Run(8);
  // The limit covers the burst, or usage above it raises it at once.
  const uint64_t number = 5;
  BoostedRecommender& job = *fleet.jobs()[number];
  job.StartDay(fleet.day());
  double lowest = 1e300, highest = 0;
  for (int32_t w = fleet.day() * kWindowsPerDay; w < (fleet.day() + 1) * kWindowsPerDay; ++w) {
    fleet.Step(job, number, w);
    const double limit = *job.Recommend(WindowId{w + 1});
    EXPECT_GT(limit, 0.5 * fleet.UsageOf(number, w));
    lowest = std::min(lowest, limit);
    highest = std::max(highest, limit);
  }
  EXPECT_GT(highest, 1.05 * lowest);
  Reason reason;
  job.Explain(reason);
  EXPECT_EQ(reason.recommender, "boosted");
  EXPECT_NE(reason.sentence.find("Forecast for the"), std::string::npos) << reason.sentence;
  EXPECT_FALSE(reason.steps.empty());
}

// A limit that cuts CPU hides the need, so the raise is high enough to show it.
TEST(Boosted, CpuAtItsLimitRaisesTheLimitUntilTheNeedShows) {
  TestFleet fleet(Resource::kCpu);
  fleet.Run(5);
  BoostedRecommender& job = *fleet.jobs()[0];
  job.StartDay(fleet.day());
  WindowId window{fleet.day() * kWindowsPerDay};
  const double limit = *job.Recommend(window);
  const MadeSignal at_limit(Resource::kCpu, window.index, limit);
  Signal cut = at_limit;
  cut.limit = cut.cut_at = limit;
  job.Observe(cut);
  const double raised = *job.Recommend(WindowId{++window.index});
  EXPECT_GT(raised, 2 * limit);
  // Usage above a limit that was not in force shows the need, so the raise is small.
  const MadeSignal above(Resource::kCpu, window.index, 1.5 * raised);
  Signal over = above;
  over.limit = raised;
  job.Observe(over);
  EXPECT_NEAR(*job.Recommend(WindowId{++window.index}), 1.2 * 1.5 * raised, 1e-3 * raised);
}

TEST_P(BoostedByResource, ASavedJobGoesOnAsTheJobDoes) {
  TestFleet fleet(GetParam());
  fleet.Run(5);
  for (const int32_t stop : {1, 100, 287}) {
    BoostedRecommender& job = *fleet.jobs()[3];
    job.StartDay(fleet.day());
    const int32_t first = fleet.day() * kWindowsPerDay;
    for (int32_t w = first; w < first + stop; ++w) fleet.Step(job, 3, w);
    const std::string bytes = Saved(job);
    const std::unique_ptr<BoostedRecommender> loaded = fleet.Make(3);
    ByteReader in(bytes);
    ASSERT_TRUE(loaded->Load(in).ok());
    EXPECT_EQ(in.remaining(), 0);
    EXPECT_EQ(Saved(*loaded), bytes);
    for (int32_t w = first + stop; w < first + 288; ++w) {
      for (BoostedRecommender* one : {&job, loaded.get()}) fleet.Step(*one, 3, w);
      ASSERT_EQ(job.Recommend(WindowId{w + 1}), loaded->Recommend(WindowId{w + 1}));
    }
    FleetRows a, b;
    job.EndDay(fleet.day(), a);
    loaded->EndDay(fleet.day(), b);
    EXPECT_EQ(a.size(), b.size());
    EXPECT_EQ(Saved(job), Saved(*loaded));
    fleet.Run(1);
    for (size_t cut = 0; cut < bytes.size(); cut += 97) {
      ByteReader short_in(std::string_view(bytes).substr(0, cut));
      EXPECT_FALSE(fleet.Make(3)->Load(short_in).ok()) << cut;
    }
  }
}

TEST_P(BoostedByResource, ACloneKeepsTheLimit) {
  TestFleet fleet(GetParam());
  fleet.Run(5);
  const std::unique_ptr<Recommender> copy = fleet.jobs()[2]->Clone();
  const WindowId next{fleet.day() * kWindowsPerDay};
  EXPECT_EQ(copy->Recommend(next), fleet.jobs()[2]->Recommend(next));
}

TEST_P(BoostedByResource, ASavedFleetGoesOnAsTheFleetDoes) {
  // A forest is due after each of these days; it is trained from the saved sample.
  for (const int days : {2, 3, 4}) {
    TestFleet fleet(GetParam());
    fleet.Run(days);
    const std::string bytes = Saved(fleet.fleet());
    BoostedFleet loaded(GetParam(), SmallSettings(), {0.03, 0.1});
    ByteReader in(bytes);
    ASSERT_TRUE(loaded.Load(in).ok());
    EXPECT_EQ(loaded.DueTraining().has_value(), fleet.fleet().DueTraining().has_value());
    FleetShare share(fleet.day(), AnalogSettings(), SmallSettings());
    BoostedShare same = share.boosted;
    loaded.CloseDay(std::move(share.boosted));
    fleet.fleet().CloseDay(std::move(same));
    EXPECT_EQ(Saved(loaded), Saved(fleet.fleet()));
    ByteReader wrong(bytes);
    BoostedFleet other(GetParam() == Resource::kCpu ? Resource::kMemory : Resource::kCpu, SmallSettings(),
                       {0.03, 0.1});
    EXPECT_FALSE(other.Load(wrong).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Resources, BoostedByResource, testing::Values(Resource::kCpu, Resource::kMemory),
                         [](const auto& info) { return std::string(Name(info.param)); });

TEST(Boosted, AForestTrainedElsewhereIsTheSame) {
  TestFleet inside(Resource::kMemory), outside(Resource::kMemory);
  inside.Run(3);
  outside.Run(3);
  std::optional<BoostedTraining> training = outside.fleet().DueTraining();
  ASSERT_TRUE(training.has_value());
  outside.fleet().Adopt(training->day - 1, absl::InternalError("of another day"));
  EXPECT_TRUE(outside.fleet().DueTraining().has_value());
  outside.fleet().Adopt(training->day, training->Train());
  EXPECT_FALSE(outside.fleet().DueTraining().has_value());
  inside.Run(1);
  outside.Run(1);
  EXPECT_EQ(Saved(inside.fleet()), Saved(outside.fleet()));
}

TEST(Boosted, TheLastForestStaysIfATrainingFails) {
  TestFleet fleet(Resource::kMemory);
  fleet.Run(4);
  ASSERT_TRUE(fleet.fleet().ready());
  for (int day = 0; day < 8 && !fleet.fleet().DueTraining().has_value(); ++day) fleet.Run(1);
  const std::optional<BoostedTraining> due = fleet.fleet().DueTraining();
  ASSERT_TRUE(due.has_value());
  BoostedCase job;
  job.week_peak = kGiB;
  const auto before = fleet.fleet().Forecast(job).harms;
  fleet.fleet().Adopt(due->day, absl::InternalError("no memory"));
  fleet.Run(1);
  EXPECT_EQ(fleet.fleet().Forecast(job).harms, before);
  EXPECT_EQ(fleet.fleet().training_status().message(), "no memory");
}

TEST(Boosted, UsageAboveTheLimitRaisesItAtOnce) {
  TestFleet fleet(Resource::kMemory);
  fleet.Run(5);
  BoostedRecommender& job = *fleet.jobs()[1];
  job.StartDay(fleet.day());
  const int32_t w = fleet.day() * kWindowsPerDay;
  const double used = 3 * *job.Recommend(WindowId{w});
  job.Observe(MadeSignal(Resource::kMemory, w, used));
  EXPECT_GE(*job.Recommend(WindowId{w + 1}), 1.2 * used * 0.99);
  job.ObserveOom({.window = WindowId{w + 1}, .task = 0, .limit = 2 * used});
  EXPECT_GE(*job.Recommend(WindowId{w + 1}), 2 * used);
  // The need stays in the job's history.
  EXPECT_GE(*job.Recommend(WindowId{w + 2}), 2 * used);
}

TEST(Boosted, AJobsOwnTargetBoundsItsChance) {
  TestFleet fleet(Resource::kMemory);
  fleet.Run(5);
  const auto limit_of = [&](double order) {
    const std::unique_ptr<BoostedRecommender> job = fleet.Make(4, order);
    for (int32_t w = (fleet.day() - 3) * kWindowsPerDay; w < fleet.day() * kWindowsPerDay; ++w)
      fleet.Step(*job, 4, w);
    return *job->Recommend(WindowId{fleet.day() * kWindowsPerDay});
  };
  EXPECT_GE(limit_of(0.001), limit_of(0.3));
}

TEST(Boosted, TheChanceFallsWithTheLimit) {
  TestFleet fleet(Resource::kMemory);
  fleet.Run(5);
  const BoostedRecommender& job = *fleet.jobs()[7];
  double last = 1;
  for (double limit = kGiB; limit < 8 * kGiB; limit *= 1.1) {
    const double chance = *job.OverrunChance(limit);
    EXPECT_LE(chance, last + 1e-9);
    EXPECT_GE(chance, 0);
    last = chance;
  }
  LimitRisk risk;
  job.UpdateRisk(2 * kGiB, risk);
  EXPECT_EQ(risk.chance, *job.OverrunChance(2 * kGiB));
}

TEST(Boosted, ConstantUsageNeedsLittleMoreThanItself) {
  BoostedSettings settings = SmallSettings();
  BoostedFleet fleet(Resource::kMemory, settings, {0.03, 0.1});
  std::vector<std::unique_ptr<BoostedRecommender>> jobs;
  for (uint64_t i = 0; i < 12; ++i)
    jobs.push_back(
        std::make_unique<BoostedRecommender>(fleet, nullptr, OomSettings(), BoostedJob{MixBits(i)}));
  for (int32_t day = 0; day < 8; ++day) {
    FleetShare share(day, AnalogSettings(), settings);
    for (uint64_t i = 0; i < jobs.size(); ++i) {
      jobs[i]->StartDay(day);
      for (int32_t w = day * kWindowsPerDay; w < (day + 1) * kWindowsPerDay; ++w) {
        jobs[i]->Observe(MadeSignal(Resource::kMemory, w, kGiB));
        jobs[i]->Recommend(WindowId{w + 1});
      }
      FleetRows rows;
      jobs[i]->EndDay(day, rows);
      for (FleetRow& row : rows) row.job = MixBits(i);
      share.Add(rows);
    }
    fleet.CloseDay(std::move(share.boosted));
  }
  for (const auto& job : jobs) {
    const double limit = *job->Recommend(WindowId{8 * kWindowsPerDay});
    EXPECT_GE(limit, 0.99 * kGiB);
    EXPECT_LE(limit, 1.6 * kGiB);
  }
}

}  // namespace
}  // namespace taut::brain
