// Compares the decaying histogram with a list of its samples.
#include "common/histogram/decaying_histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "common/histogram/percentile_fixture.h"

namespace taut {
namespace {

constexpr double kHour = 3600;
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Sample {
  double value;
  double weight;
  int64_t time_s;
};

// Stores all samples, and decays them on demand.
struct Naive {
  const Grid& grid;
  double half_life_s;
  std::vector<Sample> samples;

  double Share(const Sample& s, int64_t now_s, bool load) const {
    const double weight = s.weight * std::exp2(static_cast<double>(s.time_s - now_s) / half_life_s);
    return load ? weight * grid.UpperBound(grid.BucketOf(s.value)) : weight;
  }
  double Total(int64_t now_s, bool load) const { return UpTo(kInf, now_s, load); }
  // Returns the weight or load in buckets with an upper bound <= `bound`.
  double UpTo(double bound, int64_t now_s, bool load) const {
    double sum = 0;
    for (const Sample& s : samples) {
      if (grid.UpperBound(grid.BucketOf(s.value)) <= bound) sum += Share(s, now_s, load);
    }
    return sum;
  }
};

rc::Gen<std::vector<Sample>> Samples(const Grid& grid, double half_life_s, double half_lives) {
  const auto span = static_cast<int64_t>(half_life_s * half_lives);
  return rc::gen::container<std::vector<Sample>>(
      rc::gen::map(rc::gen::tuple(rc::gen::inRange(-500, 18'000), rc::gen::inRange(1, 4000),
                                  rc::gen::inRange<int64_t>(0, span)),
                   [&grid](const std::tuple<int, int, int64_t>& t) {
                     return Sample{grid.UpperBound(0) * std::exp2(std::get<0>(t) / 1000.0),
                                   std::get<1>(t) / 16.0, std::get<2>(t)};
                   }));
}

DecayingHistogram Fill(const Grid& grid, double half_life_s, const std::vector<Sample>& samples) {
  DecayingHistogram h(grid, half_life_s);
  for (const Sample& s : samples) h.Add(s.value, s.weight, s.time_s);
  return h;
}

// Tolerance of the comparisons: above the errors of pruning (1e-6 per bucket and rescale) and of floats (1e-7 per
// sample), and below the effect of a mistake.
constexpr double kSlack = 2e-4;

void CheckAgainst(const Naive& naive, const DecayingHistogram& h, int64_t now_s) {
  const double total = naive.Total(now_s, false);
  RC_ASSERT(std::abs(h.TotalWeight(now_s) - total) <= kSlack * total);
  const double load = naive.Total(now_s, true);
  RC_ASSERT(std::abs(h.Mean() - load / total) <= kSlack * load / total);
  for (int k = 0; k < naive.grid.size(); k += 7) {
    const auto b = static_cast<Bucket>(k);
    const double wanted = naive.UpTo(naive.grid.UpperBound(b), now_s, false) -
                          naive.UpTo(naive.grid.LowerBound(b), now_s, false);
    RC_ASSERT(std::abs(h.WeightOf(b, now_s) - wanted) <= kSlack * total);
  }
  for (const double p : {0.01, 0.3, 0.5, 0.9, 0.95, 0.99}) {
    for (const bool by_load : {false, true}) {
      const double bound = h.Percentile(p, by_load ? PercentileOf::kLoad : PercentileOf::kTime);
      const double all = by_load ? load : total;
      const double below = naive.UpTo(std::nextafter(bound, 0.0), now_s, by_load);
      RC_ASSERT(naive.UpTo(bound, now_s, by_load) >= p * all - kSlack * all);
      RC_ASSERT(below <= p * all + kSlack * all);
    }
  }
}

RC_GTEST_PROP(DecayingHistogram, AgreesWithAListOfSamplesInAnyOrder, ()) {
  const Grid& grid = **rc::gen::element(&Grid::Cpu(), &Grid::Memory());
  const double half_life_s = *rc::gen::element(12 * kHour, 48 * kHour, 1234.5);
  const double half_lives = *rc::gen::element(0.5, 8.0, 300.0);  // 300 x 48 h: 20 months, many rescales
  const auto samples = *Samples(grid, half_life_s, half_lives);
  RC_PRE(!samples.empty());
  const DecayingHistogram h = Fill(grid, half_life_s, samples);
  const auto now_s = static_cast<int64_t>(half_life_s * half_lives);
  CheckAgainst({grid, half_life_s, samples}, h, now_s);
}

RC_GTEST_PROP(DecayingHistogram, MergeIsTheHistogramOfBoth, ()) {
  const Grid& grid = Grid::Memory();
  const double half_life_s = 48 * kHour;
  auto samples = *Samples(grid, half_life_s, 40);
  const auto more = *Samples(grid, half_life_s, 15);
  DecayingHistogram h = Fill(grid, half_life_s, samples);
  if (*rc::gen::arbitrary<bool>()) {
    h.Merge(Fill(grid, half_life_s, more));
  } else {
    DecayingHistogram other = Fill(grid, half_life_s, more);
    other.Merge(h);
    h = other;
  }
  samples.insert(samples.end(), more.begin(), more.end());
  RC_PRE(!samples.empty());
  CheckAgainst({grid, half_life_s, samples}, h, static_cast<int64_t>(half_life_s * 40));
}

RC_GTEST_PROP(DecayingHistogram, WithoutDecayItCounts, ()) {
  const auto samples = *Samples(Grid::Cpu(), 1e6, 100);
  RC_PRE(!samples.empty());
  const DecayingHistogram h = Fill(Grid::Cpu(), kInf, samples);
  double peak = 0;
  double total = 0;
  for (const Sample& s : samples) {
    peak = std::max(peak, Grid::Cpu().UpperBound(Grid::Cpu().BucketOf(s.value)));
    total += s.weight;
  }
  RC_ASSERT(h.Peak() == peak);
  RC_ASSERT(h.Percentile(1.0) <= peak);
  RC_ASSERT(h.TotalWeight(0) == total);  // fewer than 2^24 sixteenths: exact in a float
}

RC_GTEST_PROP(DecayingHistogram, RestoredItGoesOnBitForBit, ()) {
  const auto samples = *Samples(Grid::Cpu(), 12 * kHour, 60);
  const auto later = *Samples(Grid::Cpu(), 12 * kHour, 90);
  DecayingHistogram h = Fill(Grid::Cpu(), 12 * kHour, samples);
  const auto bytes_of = [](const DecayingHistogram& histogram) {
    std::string bytes;
    ByteWriter out(&bytes);
    histogram.Save(out);
    return bytes;
  };
  const std::string bytes = bytes_of(h);
  ByteReader in(bytes);
  absl::StatusOr<DecayingHistogram> restored = DecayingHistogram::Load(in, Grid::Cpu());
  RC_ASSERT(restored.ok());
  RC_ASSERT(in.remaining() == 0U);
  for (const Sample& s : later) {
    h.Add(s.value, s.weight, s.time_s);
    restored->Add(s.value, s.weight, s.time_s);
  }
  RC_ASSERT(bytes_of(h) == bytes_of(*restored));
  RC_ASSERT(h.Percentile(0.95, PercentileOf::kLoad) == restored->Percentile(0.95, PercentileOf::kLoad));
}

TEST(DecayingHistogram, HalvesEveryHalfLife) {
  DecayingHistogram h(Grid::Cpu(), 12 * kHour);
  h.Add(1.0, 3.0, 1'000'000);
  const Bucket b = Grid::Cpu().BucketOf(1.0);
  EXPECT_DOUBLE_EQ(h.WeightOf(b, 1'000'000), 3.0);
  EXPECT_DOUBLE_EQ(h.WeightOf(b, 1'000'000 + 12 * 3600), 1.5);
  // Decay is continuous, not in whole half-lives (docs/references.md, A5).
  EXPECT_NEAR(h.WeightOf(b, 1'000'000 + 6 * 3600), 3 * std::sqrt(0.5), 1e-9);
  EXPECT_EQ(h.WeightOf(b + 1, 1'000'000), 0.0);
}

TEST(DecayingHistogram, TiesUnderDecayAreInclusive) {
  // Nine 1s and one 10 at the same time, read long after and long before the reference: p90 by time stays 1.
  for (const int64_t time_s : {0, 12'345, 400'000, -400'000}) {
    DecayingHistogram h(Grid::Cpu(), 12 * kHour);
    h.Add(0.01, 1e-6, 0);  // sets the reference
    for (int i = 0; i < 9; ++i) h.Add(1.0, 1.0, time_s);
    h.Add(10.0, 1.0, time_s);
    EXPECT_EQ(h.Percentile(0.90), Grid::Cpu().UpperBound(Grid::Cpu().BucketOf(1.0))) << time_s;
    EXPECT_EQ(h.Percentile(0.90, PercentileOf::kLoad), h.Peak()) << time_s;
    const double one = Grid::Cpu().UpperBound(Grid::Cpu().BucketOf(1.0));
    const double ten = Grid::Cpu().UpperBound(Grid::Cpu().BucketOf(10.0));
    const double served_at_one = 9 * one / (9 * one + ten);  // about 9/19 (A2)
    EXPECT_NEAR(served_at_one, 9.0 / 19, 0.012);
    EXPECT_EQ(h.Percentile(served_at_one - 1e-6, PercentileOf::kLoad), one) << time_s;
    EXPECT_EQ(h.Percentile(served_at_one + 1e-4, PercentileOf::kLoad), ten) << time_s;
  }
}

TEST(DecayingHistogram, EmptyAndWeightless) {
  DecayingHistogram h(Grid::Memory(), 48 * kHour);
  h.Add(5e9, 0.0, 100);
  EXPECT_TRUE(h.empty());
  EXPECT_EQ(h.Percentile(0.5), 0.0);
  EXPECT_EQ(h.Mean(), 0.0);
  EXPECT_EQ(h.Peak(), 0.0);
  EXPECT_EQ(h.TotalWeight(100), 0.0);
  h.Add(5e9, 1.0, 100);
  h.Add(9e9, 1.0, 100 - int64_t{48 * 3600} * 400);  // a weight of 2^-400 is lost
  EXPECT_EQ(h.Peak(), Grid::Memory().UpperBound(Grid::Memory().BucketOf(5e9)));
}

TEST(DecayingHistogram, ForgetsWhatNoLongerCounts) {
  DecayingHistogram h(Grid::Memory(), 48 * kHour);
  const int64_t day = 86'400;
  h.Add(100e9, 1.0, 0);
  for (int64_t t = 0; t < 200 * day; t += 300) h.Add(1e9, 1.0, t);
  // After 100 half-lives the first window's peak is gone, and the total weight is the sum over the remaining
  // windows.
  EXPECT_EQ(h.Peak(), Grid::Memory().UpperBound(Grid::Memory().BucketOf(1e9)));
  EXPECT_NEAR(h.TotalWeight(200 * day), 1.0 / (std::exp2(300.0 / (48 * kHour)) - 1.0), 0.01);
  h.Add(2e9, 1.0, 4000 * day);
  EXPECT_EQ(h.Percentile(0.0), h.Peak());
  EXPECT_DOUBLE_EQ(h.TotalWeight(4000 * day), 1.0);
}

TEST(DecayingHistogram, KeepsARareSampleThatCarriesTheLoad) {
  DecayingHistogram h(Grid::Cpu(), 12 * kHour);
  h.Add(0.001, 1e8, 0);
  h.Add(1000.0, 10.0, 0);  // 1e-7 of the weight, a tenth of the load
  h.Add(0.001, 1.0, 11 * 12 * 3600);
  EXPECT_GT(h.Peak(), 900.0);
}

TEST(DecayingHistogram, IsSmall) {
  DecayingHistogram h(Grid::Cpu(), 12 * kHour);
  for (int i = 0; i < 40; ++i) h.AddToBucket(static_cast<Bucket>(100 + i), 1.0, i);
  EXPECT_LE(h.state_bytes(), 320U);
}

TEST(DecayingHistogram, LoadRefusesWhatSaveCannotWrite) {
  DecayingHistogram h(Grid::Cpu(), 12 * kHour);
  for (int i = 0; i < 20; ++i) h.Add(0.1 * i, 1.0 + i, 300 * i);
  std::string bytes;
  ByteWriter out(&bytes);
  h.Save(out);
  ByteReader other_grid(bytes);
  EXPECT_EQ(DecayingHistogram::Load(other_grid, Grid::Memory()).status().code(),
            absl::StatusCode::kInvalidArgument);
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(DecayingHistogram::Load(in, Grid::Cpu()).ok()) << size;
  }
  // A record must contain no NaN, and no impossible sum, half-life or reference (offsets:
  // docs/reference/storage.md).
  for (const size_t at : {2U, 18U, 26U}) {
    std::string bad = bytes;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::memcpy(&bad[at], &nan, sizeof(nan));
    ByteReader in(bad);
    EXPECT_EQ(DecayingHistogram::Load(in, Grid::Cpu()).status().code(), absl::StatusCode::kDataLoss) << at;
  }
  std::string bad = bytes;
  const int64_t far = std::numeric_limits<int64_t>::min();
  std::memcpy(&bad[10], &far, sizeof(far));
  ByteReader in(bad);
  EXPECT_EQ(DecayingHistogram::Load(in, Grid::Cpu()).status().code(), absl::StatusCode::kDataLoss);
}

// Percentiles equal the results of the rule over explicit buckets (percentile.h), in each variant.
TEST(DecayingHistogram, PercentilesAreTheRuleOverItsBuckets) {
  const Grid& grid = Grid::Cpu();
  DecayingHistogram h(grid, kInf);
  std::vector<double> lower, upper, weights(static_cast<size_t>(grid.size()));
  for (int k = 0; k < grid.size(); ++k) {
    lower.push_back(grid.LowerBound(static_cast<Bucket>(k)));
    upper.push_back(grid.UpperBound(static_cast<Bucket>(k)));
  }
  for (const auto& [bucket, weight] : {std::pair(40, 3.0), {100, 8.0}, {160, 2.0}, {161, 0.5}}) {
    h.AddToBucket(static_cast<Bucket>(bucket), weight, 0);
    weights[static_cast<size_t>(bucket)] = weight;
  }
  for (const double p : {0.1, 0.37, 0.8, 0.9, 0.95, 1.0}) {
    for (const PercentileOf of : {PercentileOf::kTime, PercentileOf::kLoad}) {
      for (const BucketValue value : {BucketValue::kUpperBound, BucketValue::kInterpolated}) {
        for (const LoadBound load : {LoadBound::kUpper, LoadBound::kLower}) {
          const double wanted = PercentileOfBuckets({lower, upper, weights}, p, of, value, load);
          EXPECT_NEAR(h.Percentile(p, of, value, load), wanted, 1e-9 * wanted) << p;
        }
      }
    }
  }
}

TEST(DecayingHistogram, TimesBeyondAllTimeComeBack) {
  for (const int64_t time_s : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    DecayingHistogram h(Grid::Cpu(), 12 * kHour);
    h.Add(1.0, 2.0, time_s);
    std::string bytes;
    ByteWriter out(&bytes);
    h.Save(out);
    ByteReader in(bytes);
    EXPECT_TRUE(DecayingHistogram::Load(in, Grid::Cpu()).ok()) << time_s;
  }
}

TEST(DecayingHistogram, AWeightOfZeroLeavesNoTrace) {
  const auto saved = [](const DecayingHistogram& h) {
    std::string bytes;
    ByteWriter out(&bytes);
    h.Save(out);
    return bytes;
  };
  DecayingHistogram h(Grid::Cpu(), 12 * kHour);
  h.Add(1.0, 2.0, 0);
  const std::string before = saved(h);
  h.Add(3.0, 0.0, 100 * 12 * 3600);
  EXPECT_EQ(saved(h), before);
}

TEST(Exp2, IsExactForWholeNumbersAndCloseElsewhere) {
  for (int i = -1000; i <= 1000; ++i) EXPECT_EQ(Exp2(i), std::ldexp(1.0, i)) << i;
  for (double x = -99; x < 99; x += 0.0137) EXPECT_NEAR(Exp2(x) / std::exp2(x), 1.0, 1e-11) << x;
  EXPECT_EQ(Exp2(-1001), 0.0);
  EXPECT_EQ(Exp2(-kInf), 0.0);
  EXPECT_EQ(Exp2(kInf), std::ldexp(1.0, 1000));
}

TEST(DecayingHistogram, IsRescaledAtTenHalfLives) {
  const auto lowest_after = [](int64_t seconds) {
    DecayingHistogram h(Grid::Cpu(), 100);
    h.Add(0.01, 1e-8, 0);  // the share soon falls below a millionth, and a rescale drops the bucket
    h.Add(1.0, 1.0, seconds);
    return h.Percentile(0.0);
  };
  EXPECT_LT(lowest_after(999), 0.02);
  EXPECT_GT(lowest_after(1000), 0.9);
}

TEST(DecayingHistogram, KeepsWhatWeighsThoughItCarriesNoLoad) {
  DecayingHistogram h(Grid::Cpu(), 100);
  h.Add(0.001, 1.0, 0);  // a hundredth of the weight, 1e-8 of the load
  h.Add(1000.0, 100.0, 0);
  h.Add(1000.0, 1e-3, 1000);
  EXPECT_EQ(h.Percentile(0.0), 0.001);
}

TEST(DecayingHistogram, LargeSumsComeBack) {
  DecayingHistogram h(Grid::Memory(), 48 * kHour);
  for (int i = 0; i < 1000; ++i) h.Add(1e9 + 1e8 * (i % 97), 1 + 0.1 * (i % 7), 300 * i);
  std::string bytes;
  ByteWriter out(&bytes);
  h.Save(out);
  ByteReader in(bytes);
  const absl::StatusOr<DecayingHistogram> loaded = DecayingHistogram::Load(in, Grid::Memory());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->Mean(), h.Mean());
}

// Load rejects impossible values in a record, at the offsets in docs/reference/storage.md.
TEST(DecayingHistogram, LoadRefusesWhatCannotBe) {
  DecayingHistogram h(Grid::Cpu(), 12 * kHour);
  h.Add(1.0, 2.0, 0);
  h.Add(1.1, 1e-5, 0);  // so small that a change of this weight does not contradict the sums
  std::string bytes;
  ByteWriter out(&bytes);
  h.Save(out);
  const auto load = [&](size_t at, auto value) {
    std::string bad = bytes;
    std::memcpy(&bad[at], &value, sizeof(value));
    ByteReader in(bad);
    return DecayingHistogram::Load(in, Grid::Cpu()).status().code();
  };
  const double load_of_both = (2 + 1e-5) * h.Mean();
  EXPECT_EQ(load(18, (2.0 + 1e-5) * 1.00001), absl::StatusCode::kOk) << "rounding";
  EXPECT_EQ(load(18, 2.0 * 1.001), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load(18, 2.0 / 1.001), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load(26, load_of_both * 1.001), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load(2, 0.0), absl::StatusCode::kDataLoss) << "half-life";
  EXPECT_EQ(load(2, -1.0), absl::StatusCode::kDataLoss) << "half-life";
  EXPECT_EQ(load(bytes.size() - sizeof(float), 0.0F), absl::StatusCode::kDataLoss) << "an empty bucket";
}

}  // namespace
}  // namespace taut
