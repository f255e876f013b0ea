// Tests the Kubernetes VPA's published constants and arithmetic (docs/references.md, "Kubernetes VPA").
#include "brain/recommend/vpa.h"

#include <cmath>
#include <limits>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Computes bucketStart(n) = first * (1.05^n - 1) / 0.05 by summing the widths.
TEST(VpaHistogram, BucketsGrowByFivePercent) {
  for (double first : {0.01, 1e7}) {
    double start = 0, width = first;
    for (int n = 0; n < VpaHistogram::kBuckets; ++n) {
      ASSERT_NEAR(VpaHistogram::BucketStart(first, n), start, 1e-9 * (start + first)) << n;
      start += width;
      width *= 1.05;
    }
    // The 176 buckets extend to 1,000 cores and 1e12 bytes.
    EXPECT_GE(start, first * 1e5);
    EXPECT_LT(VpaHistogram::BucketStart(first, VpaHistogram::kBuckets - 2), first * 1e5);
  }
}

TEST(VpaHistogram, PercentileIsTheEndOfTheBucketThatReachesIt) {
  VpaHistogram h(0.01, 24 * kHour);
  EXPECT_TRUE(h.empty());
  EXPECT_EQ(h.Percentile(0.9), 0);
  h.Add(0.005, 9, 0);      // bucket 0: [0, 0.01)
  h.Add(0.0100001, 1, 0);  // bucket 1: [0.01, 0.0205)
  EXPECT_DOUBLE_EQ(h.Percentile(0.9), 0.01);
  EXPECT_DOUBLE_EQ(h.Percentile(0.91), 0.0205);
  EXPECT_DOUBLE_EQ(h.Percentile(1.0), 0.0205);
  VpaHistogram top(0.01, 24 * kHour);
  top.Add(1e9, 1, 0);
  EXPECT_DOUBLE_EQ(top.Percentile(0.5), VpaHistogram::BucketStart(0.01, VpaHistogram::kBuckets - 1));
}

TEST(VpaHistogram, WeightsBelowEpsilonAreNothing) {
  VpaHistogram h(0.01, 24 * kHour);
  h.Add(1, 0.9e-4, 0);
  EXPECT_TRUE(h.empty());
  h.Add(1, 0.2e-4, 0);
  EXPECT_FALSE(h.empty());
}

TEST(VpaHistogram, HalvesEveryHalfLifeAndTakesSamplesBack) {
  VpaHistogram h(0.01, 24 * kHour);
  h.Add(5, 1, 0);
  h.Add(0.005, 1, 86'400);  // a sample with twice the weight of the first sample
  EXPECT_DOUBLE_EQ(h.Percentile(0.66), 0.01);
  EXPECT_GT(h.Percentile(0.67), 5);
  h.Add(5, -1, 0);
  EXPECT_DOUBLE_EQ(h.Percentile(1.0), 0.01);
}

// All buckets are rescaled beyond 2^100, which must not change percentiles. Values stay below the last bucket
// (1,021 cores), because its percentile is the bucket's start.
RC_GTEST_PROP(VpaHistogram, AgreesWithAListOfSamples, ()) {
  struct Sample {
    double value;
    int64_t time_s;
  };
  std::vector<Sample> samples;
  VpaHistogram h(0.01, 24 * kHour);
  int64_t now = *rc::gen::inRange(0, 1'000'000);
  const int n = *rc::gen::inRange(1, 60);
  for (int i = 0; i < n; ++i) {
    now += *rc::gen::element(300, 3600, 86'400, 40 * 86'400, 130 * 86'400);
    samples.push_back({std::exp(*rc::gen::inRange(-500, 690) / 100.0), now});
    h.Add(samples.back().value, 1, now);
  }
  const double p = *rc::gen::inRange(1, 100) / 100.0;
  const double answer = h.Percentile(p);
  double total = 0, at_or_below = 0, below = 0;
  for (const Sample& s : samples) {
    const double weight = std::exp2(-static_cast<double>(now - s.time_s) / 86'400);
    total += weight;
    // `answer` is the end of a bucket that starts at (answer - first) / 1.05.
    if (s.value < answer * (1 + 1e-9)) at_or_below += weight;
    if (s.value < (answer - 0.01) / 1.05 * (1 - 1e-9)) below += weight;
  }
  RC_ASSERT(at_or_below >= p * total * (1 - 1e-9));
  RC_ASSERT(below < p * total * (1 + 1e-9));
}

// A checkpoint of the VPA has each weight as a rounded share of the largest weight, which is 10,000.
TEST(VpaHistogram, ACheckpointGoesOnAsItWas) {
  VpaHistogram before(VpaHistogram::kFirstMemory, 86400);
  double largest = 0, total = 0;
  std::vector<double> exact(VpaHistogram::kBuckets);
  for (int i = 0; i < 200; ++i) {
    const double value = 2e8 * (1 + 0.5 * std::sin(i * 0.7)) + 1e6 * i;
    const int64_t time_s = int64_t{i} * 7200;
    before.Add(value, 1, time_s);
    for (int n = 0; n < VpaHistogram::kBuckets; ++n) {
      const bool here = value >= VpaHistogram::BucketStart(VpaHistogram::kFirstMemory, n) &&
                        value < VpaHistogram::BucketStart(VpaHistogram::kFirstMemory, n + 1);
      if (here) exact[static_cast<size_t>(n)] += std::exp2(static_cast<double>(time_s) / 86400);
    }
  }
  for (const double w : exact) {
    largest = std::max(largest, w);
    total += w;
  }
  std::vector<VpaHistogram::Weight> weights;
  for (int n = 0; n < VpaHistogram::kBuckets; ++n) {
    const auto w = static_cast<uint32_t>(std::llround(exact[static_cast<size_t>(n)] / largest * 10000));
    if (w > 0) weights.push_back({n, w});
  }
  auto after = VpaHistogram::OfCheckpoint(VpaHistogram::kFirstMemory, 86400, weights, total, 0);
  ASSERT_TRUE(after.ok()) << after.status();
  for (const double p : {0.1, 0.5, 0.9, 0.95, 0.99})
    EXPECT_EQ(after->Percentile(p), before.Percentile(p)) << p;
  for (int i = 200; i < 230; ++i) {
    before.Add(9e8, 1, int64_t{i} * 7200);
    after->Add(9e8, 1, int64_t{i} * 7200);
    EXPECT_EQ(after->Percentile(0.9), before.Percentile(0.9)) << i;
  }
  const VpaHistogram::Weight one[] = {{3, 10000}}, outside[] = {{176, 1}};
  EXPECT_TRUE(VpaHistogram::OfCheckpoint(0.01, 86400, {}, 0, 0)->empty());
  EXPECT_FALSE(VpaHistogram::OfCheckpoint(0.01, 86400, outside, 1, 0).ok());
  EXPECT_FALSE(VpaHistogram::OfCheckpoint(0.01, 86400, one, 0, 0).ok());
  EXPECT_FALSE(VpaHistogram::OfCheckpoint(0.01, 86400, one, NAN, 0).ok());
  EXPECT_FALSE(VpaHistogram::OfCheckpoint(0.01, 86400, {}, 1, 0).ok());
}

// The table in recommender.go: with growing confidence, the upper bound is x inf, x 3, x 2, x 1.14. The lower
// bound rises from x 0 to nearly x 1.
TEST(VpaBounds, AtNoTimeHalfADayADayAndAWeek) {
  struct Case {
    double days, upper, lower;
  };
  for (const Case& c :
       {Case{0, kInfinity, 0}, Case{0.5, 3, 0.996012}, Case{1, 2, 0.998003}, Case{7, 1.142857, 0.999714}}) {
    const VpaEstimate e = VpaBounds(1, 2, 4, c.days, 0, 0.15);
    EXPECT_DOUBLE_EQ(e.target, 2 * 1.15) << c.days;
    EXPECT_FLOAT_EQ(static_cast<float>(e.upper / 1.15), static_cast<float>(4 * c.upper)) << c.days;
    EXPECT_NEAR(e.lower / 1.15, c.lower, 1e-6) << c.days;
  }
  // recommender.go: "5 min of history: x 0.6; 30 min: x 0.9; 60 min: x 0.95".
  EXPECT_NEAR(VpaBounds(1, 1, 1, 5.0 / 1440, 0, 0).lower, 0.6, 0.01);
  EXPECT_NEAR(VpaBounds(1, 1, 1, 30.0 / 1440, 0, 0).lower, 0.9, 0.015);
  EXPECT_NEAR(VpaBounds(1, 1, 1, 60.0 / 1440, 0, 0).lower, 0.95, 0.01);
}

TEST(VpaBounds, NeverBelowTheMinimum) {
  const VpaEstimate e = VpaBounds(1, 2, 4, 0, 100, 0.15);
  EXPECT_EQ(e.lower, 100);
  EXPECT_EQ(e.target, 100);
  EXPECT_EQ(e.upper, kInfinity);
  EXPECT_EQ(VpaBounds(1, 2, 4, 1, 100, 0.15).upper, 100);
}

double FactOf(const Recommender& r, const std::string& name) {
  Reason reason;
  r.Explain(reason);
  for (const Fact& f : reason.facts) {
    if (f.name == name) return std::get<double>(f.value);
  }
  ADD_FAILURE() << "no fact " << name;
  return 0;
}

TEST(Vpa, MinimaAre25MillicoresAnd250Mebibytes) {
  const auto cpu = NewVpaRecommender(Resource::kCpu, VpaSettings(), OomSettings());
  EXPECT_FALSE(cpu->Recommend(WindowId{0}).has_value());
  cpu->Observe(MadeSignal(Resource::kCpu, 0, 0.001));
  EXPECT_EQ(cpu->Recommend(WindowId{1}), 0.025);
  const auto memory = NewVpaRecommender(Resource::kMemory, VpaSettings(), OomSettings());
  memory->Observe(MadeSignal(Resource::kMemory, 0, 1 * kMiB));
  EXPECT_EQ(memory->Recommend(WindowId{1}), 250 * kMiB);
}

TEST(Vpa, CpuTargetIsP90AndFifteenPercent) {
  const auto r = NewVpaRecommender(Resource::kCpu, VpaSettings(), OomSettings());
  for (int32_t w = 0; w < 100; ++w) r->Observe(MadeSignal(Resource::kCpu, 0, w < 90 ? 1.0 : 5.0));
  int n = 0;
  while (VpaHistogram::BucketStart(0.01, n) <= 1.0) ++n;
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{1}), VpaHistogram::BucketStart(0.01, n) * 1.15);
}

// Confidence: min(days between first and last sample, one-minute samples / 1440).
TEST(Vpa, ConfidenceGrowsWithTheDays) {
  const auto r = NewVpaRecommender(Resource::kCpu, VpaSettings(), OomSettings());
  for (int32_t w = 0; w <= 7 * kWindowsPerDay; ++w) {
    r->Observe(MadeSignal(Resource::kCpu, w, 1.0));
    if (w == 0) {
      EXPECT_EQ(FactOf(*r, "upper bound"), kInfinity);
    }
    if (w == kWindowsPerDay / 2) {
      EXPECT_NEAR(FactOf(*r, "confidence"), 0.5, 1e-9);
    }
    if (w == kWindowsPerDay) {
      EXPECT_NEAR(FactOf(*r, "confidence"), 1, 1e-9);
    }
  }
  EXPECT_NEAR(FactOf(*r, "confidence"), 7, 1e-9);
}

// Each task has one memory peak per 24 h; a higher peak replaces a lower peak.
TEST(Vpa, ADaysHigherPeakReplacesTheLower) {
  const auto once = NewVpaRecommender(Resource::kMemory, VpaSettings(), OomSettings());
  once->Observe(MadeSignal(Resource::kMemory, 0, 4e9));
  const auto climbed = NewVpaRecommender(Resource::kMemory, VpaSettings(), OomSettings());
  int32_t w = 0;
  for (double v : {1e9, 2e9, 4e9, 3e9, 1e9}) climbed->Observe(MadeSignal(Resource::kMemory, w++, v));
  EXPECT_EQ(*climbed->Recommend(WindowId{w}), *once->Recommend(WindowId{1}));
  // If all five peaks were separate samples, p50 would be below 4e9.
  EXPECT_GT(FactOf(*climbed, "lower bound"), 4e9);
  // The next day adds a sample with twice the weight of the day before, so p50 becomes the new day's peak.
  climbed->Observe(MadeSignal(Resource::kMemory, kWindowsPerDay, 1e9));
  EXPECT_LT(FactOf(*climbed, "lower bound"), 1.3e9);
  EXPECT_GT(*climbed->Recommend(WindowId{kWindowsPerDay + 1}), 4e9);
}

// A peak of 0 bytes is a normal sample, which a higher peak of the same day replaces.
TEST(Vpa, ADaysPeakOfNothingLeavesNoWeight) {
  const auto once = NewVpaRecommender(Resource::kMemory, VpaSettings(), OomSettings());
  for (int32_t w : {0, 1}) once->Observe(MadeSignal(Resource::kMemory, w, 4e9));
  const auto climbed = NewVpaRecommender(Resource::kMemory, VpaSettings(), OomSettings());
  climbed->Observe(MadeSignal(Resource::kMemory, 0, 0.0));
  climbed->Observe(MadeSignal(Resource::kMemory, 1, 4e9));
  EXPECT_EQ(FactOf(*climbed, "lower bound"), FactOf(*once, "lower bound"));
}

// The updater changes a limit outside the bounds at once, and a limit that is 10 % off after 12 hours. All other
// limits stay.
TEST(Vpa, TheUpdaterLeavesWhatIsNearTheTarget) {
  const auto r = NewVpaRecommender(Resource::kCpu, VpaSettings(), OomSettings());
  int32_t w = 0;
  for (; w < 3 * kWindowsPerDay; ++w) {
    r->Observe(MadeSignal(Resource::kCpu, w, 1.0));
    (void)r->Recommend(WindowId{w + 1});
  }
  const double before = *r->Recommend(WindowId{w});
  const int32_t start = w;
  int changes = 0;
  double last = before;
  for (; w < start + 4 * kWindowsPerDay; ++w) {
    r->Observe(MadeSignal(Resource::kCpu, w, w % 5 == 0 ? 1.3 : 1.0));
    const double limit = *r->Recommend(WindowId{w + 1});
    if (limit == last) continue;
    ++changes;
    last = limit;
  }
  EXPECT_GT(last, before);
  EXPECT_LE(changes, 3) << "the target itself moves by a bucket at a time";
  EXPECT_GT(FactOf(*r, "upper bound"), last);
}

// needed = max(used + 100 MiB, 1.2 used), used = max(limit at the kill, peak of the day).
TEST(Vpa, OomBumpsTheLargerOfLimitAndPeak) {
  const auto expected = [](double needed) {
    int n = 0;
    while (VpaHistogram::BucketStart(1e7, n) <= needed) ++n;
    return VpaHistogram::BucketStart(1e7, n) * 1.15;
  };
  const auto r = NewVpaRecommender(Resource::kMemory, VpaSettings(), OomSettings());
  r->Observe(MadeSignal(Resource::kMemory, 0, 1000 * kMiB));
  r->ObserveOom({WindowId{0}, 0, 2000 * kMiB});
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{1}), expected(2400 * kMiB));
  const auto fell = NewVpaRecommender(Resource::kMemory, VpaSettings(), OomSettings());
  fell->Observe(MadeSignal(Resource::kMemory, 0, 2000 * kMiB));
  fell->ObserveOom({WindowId{1}, 0, 1000 * kMiB});
  EXPECT_DOUBLE_EQ(*fell->Recommend(WindowId{2}), expected(2400 * kMiB));
}

}  // namespace
}  // namespace taut::brain
