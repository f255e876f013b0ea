// Tests the moving window's statistics against Autopilot (EuroSys'20) §3.2.2 and docs/references.md, A1 to A3.
#include "brain/recommend/moving_window.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "brain/recommend/decayed_average.h"
#include "brain/recommend/made_signal.h"
#include "common/histogram/percentile_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

constexpr double kTwelveHourFactor = 0.995198;      // references.md, C5: decay per window at 12 h
constexpr double kFortyEightHourFactor = 0.998797;  // references.md, C5: decay per window at 48 h

MovingWindowSettings Immediately() {
  MovingWindowSettings s;
  s.min_history_s = 0;
  return s;
}
MovingWindowRecommender Cpu(JobClass c) {
  MovingWindowSettings s = Immediately();
  s.job_class = c;
  return {Resource::kCpu, s, OomSettings()};
}
MovingWindowRecommender Memory(OomTolerance t) {
  MovingWindowSettings s = Immediately();
  s.oom_tolerance = t;
  return {Resource::kMemory, s, OomSettings()};
}
double CoverOf(Resource r, double value) { return GridOf(r).UpperBound(GridOf(r).BucketOf(value)); }

// docs/references.md, A2: nine samples of 1 and one sample of 10 are a load of 19, of which a limit of 1 serves
// 9/19.
TEST(LoadAdjustedPercentile, NineOnesAndATenAreNineNineteenths) {
  const std::vector<double> lower = {0, 9}, upper = {1, 10}, weights = {9, 1};
  const auto at = [&](double p, PercentileOf of) {
    return PercentileOfBuckets({lower, upper, weights}, p, of);
  };
  EXPECT_EQ(at(9.0 / 19, PercentileOf::kLoad), 1);
  EXPECT_EQ(at(9.0 / 19 + 1e-4, PercentileOf::kLoad), 10);
  // As in Autopilot, figure 2: usage is 1 for nine tenths of the time.
  EXPECT_EQ(at(0.9, PercentileOf::kTime), 1);
  EXPECT_EQ(at(0.9, PercentileOf::kLoad), 10);
}

// The recommender uses the load: p90 of the time would be 1, p90 of the load is 10.
TEST(MovingWindow, ServesTheLoadNotTheTime) {
  for (JobClass c : {JobClass::kServing, JobClass::kServingTolerant}) {
    MovingWindowRecommender r = Cpu(c);
    r.Observe(
        MadeSignal(Resource::kCpu, 0,
                   MadeSignal::AtBuckets{{{Grid::Cpu().BucketOf(1), 9}, {Grid::Cpu().BucketOf(10), 1}}}));
    EXPECT_EQ(r.Recommend(WindowId{1}), CoverOf(Resource::kCpu, 10));
  }
}

// p95 and p90 differ if the top bucket has between 5 % and 10 % of the load. Here 8 s at 2 cores are 16 of about
// 166 core-seconds.
TEST(MovingWindow, P90IsForServingThatToleratesMore) {
  const std::map<Bucket, double> weights = {{Grid::Cpu().BucketOf(1.02), 150},
                                            {Grid::Cpu().BucketOf(2.04), 8}};
  MovingWindowRecommender p95 = Cpu(JobClass::kServing);
  MovingWindowRecommender p90 = Cpu(JobClass::kServingTolerant);
  p95.Observe(MadeSignal(Resource::kCpu, 0, MadeSignal::AtBuckets{weights}));
  p90.Observe(MadeSignal(Resource::kCpu, 0, MadeSignal::AtBuckets{weights}));
  EXPECT_EQ(p95.Recommend(WindowId{1}), CoverOf(Resource::kCpu, 2.04));
  EXPECT_EQ(p90.Recommend(WindowId{1}), CoverOf(Resource::kCpu, 1.02));
}

// p98 of the load covers the top bucket as soon as this bucket has more than 2 % of the load.
TEST(MovingWindow, LowOomToleranceIsP98OfTheLoad) {
  const Grid& grid = Grid::Memory();
  const Bucket low = grid.BucketOf(100 * kMiB), high = grid.BucketOf(200 * kMiB);
  const double ratio = grid.UpperBound(high) / grid.UpperBound(low);
  for (const auto& [share, covers_high] : {std::pair{0.019, false}, std::pair{0.021, true}}) {
    // weight w in the top bucket: w ratio / (1 + w ratio) = share
    MovingWindowRecommender r = Memory(OomTolerance::kLow);
    r.Observe(MadeSignal(Resource::kMemory, 0,
                         MadeSignal::AtBuckets{{{low, 1}, {high, share / (1 - share) / ratio}}}));
    EXPECT_EQ(r.Recommend(WindowId{1}), grid.UpperBound(covers_high ? high : low)) << share;
  }
}

TEST(MovingWindow, MinimalOomToleranceIsThePeakOfTheLastDays) {
  MovingWindowRecommender r = Memory(OomTolerance::kMinimal);
  const double small = CoverOf(Resource::kMemory, 100 * kMiB), large = CoverOf(Resource::kMemory, 900 * kMiB);
  r.Observe(MadeSignal(Resource::kMemory, 0, 900 * kMiB));
  const int32_t week = 7 * kWindowsPerDay;
  for (int32_t w = 1; w <= week; ++w) {
    r.Observe(MadeSignal(Resource::kMemory, w, 100 * kMiB));
    ASSERT_EQ(r.Recommend(WindowId{w + 1}), w < week ? large : small) << w;
  }
}

TEST(MovingWindow, IntermediateOomToleranceIsP60OrHalfThePeak) {
  const Grid& grid = Grid::Memory();
  const Bucket common = grid.BucketOf(100 * kMiB);
  // With a rare peak of four times the common usage, half of the peak is twice p60.
  MovingWindowRecommender half = Memory(OomTolerance::kIntermediate);
  const auto rare = static_cast<Bucket>(common + 2 * Grid::kPerOctave);
  half.Observe(MadeSignal(Resource::kMemory, 0, MadeSignal::AtBuckets{{{common, 99}, {rare, 1}}}));
  EXPECT_DOUBLE_EQ(*half.Recommend(WindowId{1}), grid.UpperBound(rare) / 2);
  // With a peak just above the common usage, p60 is higher than half of the peak.
  MovingWindowRecommender p60 = Memory(OomTolerance::kIntermediate);
  p60.Observe(MadeSignal(Resource::kMemory, 0,
                         MadeSignal::AtBuckets{{{common, 99}, {static_cast<Bucket>(common + 1), 1}}}));
  EXPECT_DOUBLE_EQ(*p60.Recommend(WindowId{1}), grid.UpperBound(common));
}

// docs/references.md, A1: a constant signal of 1 has the average 1 for any N and half-life; with the
// misprinted denominator it would be 16.5 for N = 12 and 12 h.
TEST(DecayedAverage, OfAConstantIsTheConstant) {
  for (double half_life_s : {600.0, 12 * kHour, 48 * kHour, 1e9}) {
    for (int n : {1, 12, 144, 5000}) {
      DecayedAverage average(half_life_s);
      for (int32_t w = 0; w < n; ++w) average.Add(1, WindowId{w});
      EXPECT_EQ(average.Get(), 1) << half_life_s << " " << n;
    }
  }
}

TEST(DecayedAverage, FadesByTheFactorsOfThePaper) {
  for (const auto& [half_life_s, factor] :
       {std::pair{12 * kHour, kTwelveHourFactor}, std::pair{48 * kHour, kFortyEightHourFactor}}) {
    DecayedAverage average(half_life_s);
    average.Add(1, WindowId{0});
    average.Add(0, WindowId{1});
    const double share = average.Get();  // f / (1 + f), where f is the decay per window
    EXPECT_NEAR(share / (1 - share), factor, 5e-7);
  }
}

// The average covers the measured windows alone, each weighted by its age, in numerator and denominator.
RC_GTEST_PROP(DecayedAverage, IsTheWeightedMeanOfTheWindowsThere, ()) {
  const double half_life_s = *rc::gen::element(1 * kHour, 12 * kHour, 48 * kHour);
  const auto gaps = *rc::gen::container<std::vector<int32_t>>(rc::gen::inRange(1, 50));
  RC_PRE(!gaps.empty());
  DecayedAverage average(half_life_s);
  std::vector<std::pair<int32_t, double>> samples;
  int32_t window = 0;
  for (int32_t gap : gaps) {
    window += gap;
    const double mean = *rc::gen::inRange(0, 1000);
    samples.emplace_back(window, mean);
    average.Add(mean, WindowId{window});
  }
  double above = 0, below = 0;
  for (const auto& [w, mean] : samples) {
    const double weight = std::exp2(-(window - w) * 300.0 / half_life_s);
    above += weight * mean;
    below += weight;
  }
  RC_ASSERT(std::abs(average.Get() - above / below) <= 1e-9 * (1 + above / below));
}

TEST(MovingWindow, BatchIsTheDecayedAverageOfWindowMeans) {
  MovingWindowRecommender r = Cpu(JobClass::kBatch);
  const MadeSignal first(Resource::kCpu, 10, 1.0), second(Resource::kCpu, 11, 4.0);
  r.Observe(first);
  EXPECT_DOUBLE_EQ(*r.Recommend(WindowId{11}), first.get().mean);
  r.Observe(second);
  const double f = std::exp2(-1.0 / 144);
  EXPECT_DOUBLE_EQ(*r.Recommend(WindowId{12}), (f * first.get().mean + second.get().mean) / (f + 1));
  // A window without measurements does not count.
  r.Observe(Signal{.window = WindowId{12}, .buckets = {}, .tasks = {}, .owner_limit = {}});
  EXPECT_DOUBLE_EQ(*r.Recommend(WindowId{13}), (f * first.get().mean + second.get().mean) / (f + 1));
}

// The average is per window, not per sample (docs/references.md, A1): ten tasks in one window weigh no more than
// one task in another window.
TEST(MovingWindow, BatchWeighsWindowsAlike) {
  MovingWindowRecommender r = Cpu(JobClass::kBatch);
  std::vector<TaskUsage> ten;
  for (uint32_t i = 0; i < 10; ++i) ten.push_back({i, 4, 4});
  const MadeSignal many(Resource::kCpu, 0, ten), one(Resource::kCpu, 1, 1.0);
  r.Observe(many);
  r.Observe(one);
  const double f = std::exp2(-1.0 / 144);
  EXPECT_DOUBLE_EQ(*r.Recommend(WindowId{2}), (f * many.get().mean + one.get().mean) / (f + 1));
}

// Old load decays: after n half-lives a spike weighs 2^-n, and p98 ignores it below 2 %.
TEST(MovingWindow, HistogramForgetsWithItsHalfLife) {
  const Grid& grid = Grid::Memory();
  const Bucket low = grid.BucketOf(100 * kMiB);
  // has exactly twice the upper bound of `low`
  const auto high = static_cast<Bucket>(low + Grid::kPerOctave);
  MovingWindowRecommender r = Memory(OomTolerance::kLow);
  r.Observe(MadeSignal(Resource::kMemory, 0, MadeSignal::AtBuckets{{{high, 1}}}));
  int32_t let_go = -1;
  for (int32_t w = 1; w < 2000; ++w) {
    r.Observe(MadeSignal(Resource::kMemory, w, MadeSignal::AtBuckets{{{low, 1}}}));
    if (r.Recommend(WindowId{w + 1}) == grid.UpperBound(high)) continue;
    let_go = w;
    break;
  }
  // A limit of p98 ignores the spike if 2 f^w <= 0.02 (2 f^w + the sum of f^i for i < w).
  double rest = 0;
  int32_t expected = 0;
  for (double spike = 1;;) {
    rest = rest * kFortyEightHourFactor + 1;
    spike *= kFortyEightHourFactor;
    ++expected;
    if (2 * spike <= 0.02 * (2 * spike + rest)) break;
  }
  EXPECT_NEAR(let_go, expected, 1);
}

TEST(MovingWindow, SaysNothingBeforeItsMinimumHistory) {
  MovingWindowRecommender r(Resource::kCpu, MovingWindowSettings(), OomSettings());
  EXPECT_FALSE(r.Recommend(WindowId{5}).has_value());
  for (int32_t w = 100; w < 100 + kWindowsPerDay; ++w) {
    r.Observe(MadeSignal(Resource::kCpu, w, 1.0));
    ASSERT_EQ(r.Recommend(WindowId{w + 1}).has_value(), w + 1 == 100 + kWindowsPerDay) << w;
  }
}

// docs/references.md, C6: an OOM kill adds a sample of max(1.2 limit, limit + 100 MiB), even if the window of
// the kill is not closed yet.
TEST(MovingWindow, OomInjectsASample) {
  for (const auto& [limit, need] : {std::pair{200 * kMiB, 300 * kMiB}, std::pair{1000 * kMiB, 1200 * kMiB}}) {
    MovingWindowRecommender r = Memory(OomTolerance::kMinimal);
    r.Observe(MadeSignal(Resource::kMemory, 0, limit));
    r.ObserveOom({WindowId{1}, 0, limit});
    EXPECT_EQ(r.Recommend(WindowId{2}), CoverOf(Resource::kMemory, need));
  }
}

// The days over which the peak is computed end at the last kill: with peak_days = 1, a kill in the next day's
// first window removes the first window.
TEST(MovingWindow, AKillInTheOpenWindowMovesTheDaysOfThePeak) {
  MovingWindowSettings settings = Immediately();
  settings.oom_tolerance = OomTolerance::kMinimal;
  settings.peak_days = 1;
  MovingWindowRecommender r(Resource::kMemory, settings, OomSettings());
  r.Observe(MadeSignal(Resource::kMemory, 0, 900 * kMiB));
  for (int32_t w = 1; w < kWindowsPerDay; ++w) r.Observe(MadeSignal(Resource::kMemory, w, 100 * kMiB));
  EXPECT_EQ(r.Recommend(WindowId{kWindowsPerDay}), CoverOf(Resource::kMemory, 900 * kMiB));
  r.ObserveOom({WindowId{kWindowsPerDay - 1}, 0, 100 * kMiB});
  EXPECT_EQ(r.Recommend(WindowId{kWindowsPerDay}), CoverOf(Resource::kMemory, 900 * kMiB));
  r.ObserveOom({WindowId{kWindowsPerDay}, 0, 100 * kMiB});
  EXPECT_EQ(r.Recommend(WindowId{kWindowsPerDay + 1}), CoverOf(Resource::kMemory, 200 * kMiB));
}

TEST(MovingWindow, ExplainsWithTheStatisticThatItUsed) {
  MovingWindowRecommender r = Memory(OomTolerance::kLow);
  Reason nothing;
  r.Explain(nothing);
  EXPECT_THAT(nothing.sentence, ::testing::HasSubstr("owner's limit"));
  r.Observe(MadeSignal(Resource::kMemory, 0, 100 * kMiB));
  Reason reason;
  r.Explain(reason);
  EXPECT_EQ(reason.recommender, "moving_window");
  EXPECT_THAT(reason.sentence, ::testing::HasSubstr("p98"));
  ASSERT_EQ(reason.steps.size(), 1U);
  EXPECT_EQ(reason.steps[0].after, r.Recommend(WindowId{1}));
}

// Autopilot's defaults for memory: the peak for jobs of few tasks, p98 of the load for jobs of many tasks. The
// job class applies only to CPU.
TEST(MovingWindow, ToleranceBySizeIsLowFromTenTasksOn) {
  const Grid& grid = Grid::Memory();
  const Bucket usual = grid.BucketOf(100 * kMiB), rare = grid.BucketOf(200 * kMiB);
  // The rare usage is 1 % of the load: 0.005 * 2 of a total of 1.01.
  const MadeSignal made(Resource::kMemory, 0, MadeSignal::AtBuckets{{{usual, 1}, {rare, 0.005}}});
  for (const JobClass c : {JobClass::kServing, JobClass::kBatch}) {
    for (const size_t tasks : {1U, 9U, 10U, 11U}) {
      MovingWindowSettings settings = Immediately();
      settings.job_class = c;
      MovingWindowRecommender r(Resource::kMemory, settings, OomSettings());
      const std::vector<TaskUsage> running(tasks, TaskUsage{0, 1, 1});
      Signal signal = made;
      signal.tasks = running;
      r.Observe(signal);
      EXPECT_EQ(r.Recommend(WindowId{1}), grid.UpperBound(tasks >= 10 ? usual : rare)) << tasks;
    }
  }
}

TEST(MovingWindow, ExplainsItsHalfLifeInHours) {
  for (const auto& [resource, hours, unit] :
       {std::tuple{Resource::kCpu, 12.0, "cores"}, {Resource::kMemory, 48.0, "bytes"}}) {
    MovingWindowRecommender r(resource, Immediately(), OomSettings());
    r.Observe(MadeSignal(resource, 0, 5));
    Reason reason;
    r.Explain(reason);
    std::map<std::string, Fact> facts;
    for (const Fact& f : reason.facts) facts[f.name] = f;
    EXPECT_EQ(std::get<double>(facts.at("half-life").value), hours);
    EXPECT_EQ(std::get<double>(facts.at("windows seen").value), 1);
    EXPECT_EQ(std::get<double>(facts.at("raw statistic").value), r.Recommend(WindowId{1}));
    EXPECT_EQ(facts.at("raw statistic").unit, unit);
    EXPECT_THAT(reason.sentence, ::testing::EndsWith(hours == 12 ? "in 12 hours." : "in 48 hours."));
  }
}

// A recommender without usage has no heap memory.
TEST(MovingWindow, CountsTheBytesOfItsState) {
  MovingWindowRecommender r = Memory(OomTolerance::kMinimal);
  EXPECT_EQ(r.state_bytes(), sizeof(r));
  for (int i = 0; i < 20; ++i) r.Observe(MadeSignal(Resource::kMemory, i, (1000 - 40 * i) * kMiB));
  DecayingHistogram histogram(Grid::Memory(), 48 * kHour);
  SlidingMax peak;
  for (int i = 0; i < 20; ++i) {
    histogram.Add((1000 - 40 * i) * kMiB, 1, 300 * i);
    peak.Add(i, Grid::Memory().BucketOf((1000 - 40 * i) * kMiB));
  }
  EXPECT_EQ(r.state_bytes() - sizeof(r),
            histogram.state_bytes() - sizeof(histogram) + peak.state_bytes() - sizeof(peak));
}

std::string Saved(const MovingWindowRecommender& r) {
  std::string bytes;
  ByteWriter out(&bytes);
  r.Save(out);
  return bytes;
}

// For every statistic, a recommender that is saved and loaded at any hour recommends as without interruption.
// Covers the time before the minimum history, and peaks that leave the counted days.
TEST(MovingWindow, GoesOnFromACheckpoint) {
  for (const Resource resource : {Resource::kCpu, Resource::kMemory}) {
    for (const int variant : {0, 1, 2}) {
      MovingWindowSettings settings;
      settings.job_class = static_cast<JobClass>(variant);
      settings.oom_tolerance = std::array{OomTolerance::kMinimal, OomTolerance::kIntermediate,
                                          OomTolerance::kBySize}[static_cast<size_t>(variant)];
      settings.peak_days = 2;
      MovingWindowRecommender straight(resource, settings, OomSettings());
      auto broken = std::make_unique<MovingWindowRecommender>(straight);
      const double unit = resource == Resource::kCpu ? 1 : 100 * kMiB;
      for (int32_t i = 0; i < 4 * kWindowsPerDay; i += 12) {
        const double usage = unit * (2 - i / (4.0 * kWindowsPerDay));
        const std::vector<TaskUsage> tasks(i % 24 == 0 ? 12 : 9,
                                           {0, static_cast<float>(usage), static_cast<float>(usage)});
        const MadeSignal signal(resource, 1000 + i, tasks);
        straight.Observe(signal);
        broken->Observe(signal);
        const std::string bytes = Saved(*broken);
        broken = std::make_unique<MovingWindowRecommender>(resource, settings, OomSettings());
        ByteReader in(bytes);
        ASSERT_TRUE(broken->Load(in).ok());
        ASSERT_EQ(in.remaining(), 0U);
        ASSERT_EQ(Saved(*broken), bytes);
        ASSERT_EQ(broken->Recommend(WindowId{1001 + i}), straight.Recommend(WindowId{1001 + i})) << i;
      }
      EXPECT_TRUE(straight.Recommend(WindowId{1000 + 4 * kWindowsPerDay}).has_value());
    }
  }
}

TEST(MovingWindow, RefusesACheckpointThatCannotBeOne) {
  MovingWindowRecommender r = Cpu(JobClass::kBatch);
  r.Observe(MadeSignal(Resource::kCpu, 7, 1.5));
  const std::string bytes = Saved(r);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    MovingWindowRecommender other = Cpu(JobClass::kBatch);
    ByteReader in(std::string_view(bytes).substr(0, cut));
    EXPECT_FALSE(other.Load(in).ok()) << cut;
  }
  // Offsets of fields from the end: first window, last window, number of windows. The peak (one byte if there is
  // none) and the average with its sum, weight and window precede these fields.
  constexpr size_t kFirst = 12, kLast = 8, kSum = 12 + 1 + 20;
  const auto with = [&](size_t from_the_end, auto value) {
    std::string damaged = bytes;
    damaged.replace(bytes.size() - from_the_end, sizeof(value), reinterpret_cast<const char*>(&value),
                    sizeof(value));
    MovingWindowRecommender other = Cpu(JobClass::kBatch);
    ByteReader in(damaged);
    return other.Load(in);
  };
  EXPECT_TRUE(with(kFirst, int32_t{6}).ok());
  EXPECT_TRUE(with(kLast, int32_t{8}).ok());
  EXPECT_TRUE(with(kSum, 2.5).ok());
  EXPECT_EQ(with(kFirst, INT32_MIN).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(kLast, INT32_MAX).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(kSum, std::numeric_limits<double>::quiet_NaN()).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace taut::brain
