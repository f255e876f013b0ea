// Compares the bank with its defining recursion, in doubles over all buckets.
#include "common/histogram/decay_bank.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace taut {
namespace {

constexpr double kHourOfBank = 3600;
const std::vector<double> kHalfLives = {1 * kHourOfBank,  3 * kHourOfBank,  6 * kHourOfBank,
                                        12 * kHourOfBank, 24 * kHourOfBank, 48 * kHourOfBank,
                                        96 * kHourOfBank, 168 * kHourOfBank};

// H_m[t] = (1 - d_m)^elapsed H_m[t'] + d_m s[t], computed for every bucket at every step.
struct NaiveBank {
  const DecayRates& rates;
  std::vector<std::vector<double>> h;

  explicit NaiveBank(const DecayRates& r)
      : rates(r), h(static_cast<size_t>(r.size()), std::vector<double>(Grid::kMaxBuckets)) {}

  void Step(int32_t elapsed, const std::vector<BucketShare>& signal) {
    double weight = 0;
    for (const BucketShare& s : signal) weight += double{s.weight};
    for (size_t m = 0; m < h.size(); ++m) {
      const double d = rates.d(static_cast<int>(m));
      for (double& v : h[m]) v *= std::pow(1 - d, elapsed);
      if (!(weight > 0)) continue;
      for (const BucketShare& s : signal) h[m][s.bucket] += d * double{s.weight} / weight;
    }
  }
  double Sum(size_t m, int from, int to) const {
    double sum = 0;
    for (int k = from; k < to; ++k) sum += h[m][static_cast<size_t>(k)];
    return sum;
  }
};

struct StepInput {
  int32_t elapsed;
  std::vector<BucketShare> signal;
};

rc::Gen<StepInput> AnyStep() {
  const auto one = rc::gen::map(rc::gen::pair(rc::gen::inRange<Bucket>(0, 385), rc::gen::inRange(1, 300)),
                                [](const std::pair<Bucket, int>& p) {
                                  return BucketShare{p.first, static_cast<float>(p.second)};
                                });
  const auto elapsed = rc::gen::weightedOneOf<int32_t>({{8, rc::gen::just<int32_t>(1)},
                                                        {2, rc::gen::inRange<int32_t>(0, 40)},
                                                        {1, rc::gen::inRange<int32_t>(0, 3000)}});
  const auto signal =
      rc::gen::uniqueBy<std::vector<BucketShare>>(one, [](const BucketShare& s) { return s.bucket; });
  return rc::gen::map(rc::gen::pair(elapsed, signal),
                      [](const std::pair<int32_t, std::vector<BucketShare>>& p) {
                        return StepInput{p.first, p.second};
                      });
}

void CheckAgainst(const NaiveBank& naive, const DecayBank& bank) {
  BankShares shares;
  bank.Shares(&shares);
  RC_ASSERT(shares.buckets.size() == static_cast<size_t>(bank.size()));
  const auto stride = static_cast<size_t>(bank.stride());
  std::vector<float> inverse(stride);
  bank.InverseMasses(inverse);
  constexpr double kSlack = 1e-3;  // shares; pruning removes up to 1e-6 per bucket and rescale
  for (size_t m = 0; m < naive.h.size(); ++m) {
    const double mass = naive.Sum(m, 0, Grid::kMaxBuckets);
    if (mass < 1e-12) continue;
    RC_ASSERT(std::abs(bank.Mass(static_cast<int>(m)) - mass) <= kSlack * mass);
    bank.ForEach([&](int position, Bucket b, const float* row) {
      const size_t at = static_cast<size_t>(position) * stride + m;
      RC_ASSERT(shares.buckets[static_cast<size_t>(position)] == b);
      RC_ASSERT(bank.Row(position) == row);
      RC_ASSERT(std::abs(double{row[m]} * double{inverse[m]} - naive.h[m][b] / mass) <= kSlack);
      RC_ASSERT(std::abs(double{shares.over[at]} - naive.Sum(m, b + 1, Grid::kMaxBuckets) / mass) <= kSlack);
      RC_ASSERT(std::abs(double{shares.under[at]} - naive.Sum(m, 0, b) / mass) <= kSlack);
    });
  }
  for (size_t lane = naive.h.size(); lane < stride; ++lane) {
    RC_ASSERT(inverse[lane] == 0.0F);
    for (size_t i = lane; i < shares.over.size(); i += stride) {
      RC_ASSERT(shares.over[i] == 0.0F && shares.under[i] == 0.0F);
    }
  }
}

RC_GTEST_PROP(DecayBank, IsTheRecursionAtEveryRateAndLimit, ()) {
  const auto count = static_cast<size_t>(*rc::gen::element(1, 5, 8, 11));
  std::vector<double> half_lives;
  for (size_t m = 0; m < count; ++m) half_lives.push_back(kHalfLives[m % 8] * (m < 8 ? 1.0 : 1.7));
  const DecayRates rates = DecayRates::FromHalfLives(half_lives);
  RC_ASSERT(rates.stride() == (count <= 8 ? 8 : 16));
  DecayBank bank(rates);
  NaiveBank naive(rates);
  for (const StepInput& step : *rc::gen::container<std::vector<StepInput>>(AnyStep())) {
    bank.Step(step.elapsed, step.signal);
    naive.Step(step.elapsed, step.signal);
    RC_ASSERT(!step.signal.empty() || bank.empty() || bank.size() > 0);
  }
  CheckAgainst(naive, bank);
}

RC_GTEST_PROP(DecayBank, RestoredItGoesOnBitForBit, ()) {
  const DecayRates rates = DecayRates::FromHalfLives(kHalfLives);
  DecayBank bank(rates);
  for (const StepInput& s : *rc::gen::container<std::vector<StepInput>>(AnyStep()))
    bank.Step(s.elapsed, s.signal);
  const auto bytes_of = [](const DecayBank& b) {
    std::string bytes;
    ByteWriter out(&bytes);
    b.Save(out);
    return bytes;
  };
  const std::string bytes = bytes_of(bank);
  DecayBank restored(rates);
  ByteReader in(bytes);
  RC_ASSERT(restored.Load(in).ok());
  RC_ASSERT(in.remaining() == 0U);
  for (const StepInput& s : *rc::gen::container<std::vector<StepInput>>(AnyStep())) {
    bank.Step(s.elapsed, s.signal);
    restored.Step(s.elapsed, s.signal);
  }
  RC_ASSERT(bytes_of(bank) == bytes_of(restored));
}

// A job's usage drifts over days; a month of windows includes many rescales.
TEST(DecayBank, HoldsOverAMonthAndStaysSmall) {
  const DecayRates rates = DecayRates::FromHalfLives(kHalfLives);
  DecayBank bank(rates);
  NaiveBank naive(rates);
  for (int t = 0; t < 30 * 288; ++t) {
    const int centre = 150 + static_cast<int>(20 * std::sin(t * 2 * M_PI / 288)) + t / 1000;
    std::vector<BucketShare> signal;
    for (int k = -2; k <= 2; ++k)
      signal.push_back({static_cast<Bucket>(centre + k), static_cast<float>(5 - k * k)});
    bank.Step(1, signal);
    naive.Step(1, signal);
  }
  BankShares shares;
  bank.Shares(&shares);
  for (size_t m = 0; m < 8; ++m) {
    const double mass = naive.Sum(m, 0, Grid::kMaxBuckets);
    EXPECT_NEAR(bank.Mass(static_cast<int>(m)) / mass, 1.0, 1e-4);
    for (size_t i = 0; i < shares.buckets.size(); ++i) {
      const int b = shares.buckets[i];
      EXPECT_NEAR(double{shares.over[i * 8 + m]}, naive.Sum(m, b + 1, Grid::kMaxBuckets) / mass, 1e-4);
      EXPECT_NEAR(double{shares.under[i * 8 + m]}, naive.Sum(m, 0, b) / mass, 1e-4);
    }
  }
  EXPECT_LT(bank.size(), 60);
}

TEST(DecayBank, FiftyBucketsAtEightRatesFitTheBudget) {
  const DecayRates rates = DecayRates::FromHalfLives(kHalfLives);
  DecayBank bank(rates);
  for (int k = 0; k < 50; ++k) bank.Step(1, std::vector<BucketShare>{{static_cast<Bucket>(100 + k), 1.0F}});
  EXPECT_LE(bank.state_bytes(), 1900U);
}

TEST(DecayBank, StartsWithoutBias) {
  const std::vector<double> keep = {0.5, 0.999};
  const DecayRates rates(keep);
  DecayBank bank(rates);
  bank.Step(1, std::vector<BucketShare>{{10, 3.0F}, {20, 1.0F}});
  BankShares shares;
  bank.Shares(&shares);
  for (size_t m = 0; m < 2; ++m) {
    EXPECT_FLOAT_EQ(shares.over[m], 0.25F);
    EXPECT_FLOAT_EQ(shares.under[8 + m], 0.75F);
    EXPECT_EQ(shares.under[m], 0.0F);
    EXPECT_EQ(shares.over[8 + m], 0.0F);
  }
  EXPECT_NEAR(bank.Mass(0), 0.5, 1e-7);
  EXPECT_NEAR(bank.Mass(1), 0.001, 1e-9);
  bank.Step(1, {});  // time passes, and the shares stay the same
  EXPECT_NEAR(bank.Mass(0), 0.25, 1e-7);
  BankShares later;
  bank.Shares(&later);
  EXPECT_EQ(later.over, shares.over);
}

// Weights grow with time: with half a halving per window they grow by 2^144 in a day, beyond the range of float.
TEST(DecayBank, AFastRateIsRescaledBeforeADayIsOver) {
  const std::vector<double> half_lives = {168 * kHourOfBank, 600};
  const DecayRates rates = DecayRates::FromHalfLives(half_lives);
  EXPECT_DOUBLE_EQ(rates.max_halvings(), 0.5);
  const std::vector<BucketShare> signal = {{10, 1}, {20, 3}};
  for (const int32_t elapsed : {1, 250, 287}) {
    DecayBank bank(rates);
    NaiveBank naive(rates);
    for (int32_t t = 0; t <= 287; t += elapsed) {
      bank.Step(t == 0 ? 0 : elapsed, signal);
      naive.Step(t == 0 ? 0 : elapsed, signal);
    }
    CheckAgainst(naive, bank);
    EXPECT_TRUE(std::isfinite(bank.Mass(1))) << elapsed;
  }
}

TEST(DecayBank, DropsBucketsThatCountAtNoRate) {
  const std::vector<double> keep = {std::exp2(-1.0 / 12), std::exp2(-1.0 / 288)};
  const DecayRates rates(keep);
  DecayBank bank(rates);
  bank.Step(1, std::vector<BucketShare>{{300, 1.0F}});
  for (int t = 0; t < 288 * 30; ++t) bank.Step(1, std::vector<BucketShare>{{10, 1.0F}});
  EXPECT_EQ(bank.size(), 1);
  EXPECT_EQ(bank.Highest(), 10);
}

TEST(DecayBank, LoadRefusesOtherRatesAndKeepsItsContent) {
  const DecayRates eight = DecayRates::FromHalfLives(kHalfLives);
  const DecayRates three = DecayRates::FromHalfLives(std::vector<double>{3600, 7200, 9000});
  DecayBank bank(eight);
  bank.Step(1, std::vector<BucketShare>{{10, 1.0F}, {11, 1.0F}});
  std::string bytes;
  ByteWriter out(&bytes);
  bank.Save(out);
  DecayBank other(three);
  other.Step(1, std::vector<BucketShare>{{7, 1.0F}});
  ByteReader in(bytes);
  EXPECT_EQ(other.Load(in).code(), absl::StatusCode::kInvalidArgument);
  // If the rows of eight rates are read as rows of three rates, lanes that must be padding contain values.
  std::string disguised = bytes;
  disguised[0] = 3;
  ByteReader padded(disguised);
  EXPECT_EQ(other.Load(padded).code(), absl::StatusCode::kDataLoss);
  for (size_t size = 0; size < bytes.size(); ++size) {
    DecayBank again(eight);
    ByteReader cut(std::string_view(bytes).substr(0, size));
    EXPECT_EQ(again.Load(cut).code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_TRUE(again.empty());
  }
  EXPECT_EQ(other.size(), 1);
  EXPECT_EQ(other.Highest(), 7);
}

TEST(DecayBank, AfterAllTimeNothingIsLeft) {
  const DecayRates rates = DecayRates::FromHalfLives(kHalfLives);
  DecayBank bank(rates);
  bank.Step(0, std::vector<BucketShare>{{10, 1.0F}});
  for (int i = 0; i < 3; ++i) bank.Step(std::numeric_limits<int32_t>::max(), {});
  EXPECT_LT(bank.Mass(7), 1e-9);
}

TEST(DecayBank, AnEntryWithoutWeightMakesNoRow) {
  const DecayRates rates = DecayRates::FromHalfLives(kHalfLives);
  DecayBank bank(rates);
  bank.Step(1, std::vector<BucketShare>{{10, 1.0F}, {20, 0.0F}});
  EXPECT_EQ(bank.size(), 1);
  BankShares shares;
  bank.Shares(&shares);
  EXPECT_EQ(shares.stride, 8);
}

TEST(DecayBank, OfRatesThatDoNotFillTheirRowsComesBack) {
  const std::vector<double> half_lives = {kHourOfBank, 24 * kHourOfBank};
  const DecayRates rates = DecayRates::FromHalfLives(half_lives);
  DecayBank bank(rates), loaded(rates);
  bank.Step(1, std::vector<BucketShare>{{10, 1.0F}, {20, 3.0F}});
  std::string bytes;
  ByteWriter out(&bytes);
  bank.Save(out);
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_EQ(loaded.Mass(1), bank.Mass(1));
  // Values in the padding of a row are invalid. The record ends with the rows: two rows of 8 floats.
  const float some = 0.5F;
  std::memcpy(&bytes[bytes.size() - 6 * sizeof(float)], &some, sizeof(some));
  ByteReader odd(bytes);
  DecayBank damaged(rates);
  EXPECT_EQ(damaged.Load(odd).code(), absl::StatusCode::kDataLoss);
}

// A rescale drops a bucket whose share has fallen below a millionth.
TEST(DecayBank, IsRescaledAfterADayOrBeforeItsScaleIsTooLarge) {
  const auto buckets_after = [](double keep, int32_t windows) {
    const DecayRates rates(std::vector<double>{keep});
    DecayBank bank(rates);
    bank.Step(1, std::vector<BucketShare>{{300, 1.0F}});
    bank.Step(windows, std::vector<BucketShare>{{10, 1.0F}});
    return bank.size();
  };
  EXPECT_EQ(buckets_after(std::exp2(-0.2), 287), 2);
  EXPECT_EQ(buckets_after(std::exp2(-0.2), 288), 1);
  EXPECT_EQ(buckets_after(0.25, 30), 2) << "scaled by 2^60";
  EXPECT_EQ(buckets_after(0.25, 31), 1);
}

TEST(DecayBank, BucketsAreDroppedByTheirShareNotByTheirMass) {
  const DecayRates rates(std::vector<double>{0.9999});
  DecayBank bank(rates);
  for (int t = 0; t < 600; ++t) bank.Step(1, std::vector<BucketShare>{{10, 1.0F}, {20, 1e-4F}});
  ASSERT_LT(bank.Mass(0), 0.1);
  BankShares shares;
  bank.Shares(&shares);
  EXPECT_NEAR(shares.over[0], 1e-4, 1e-6);
}

// After a day without usage the mass at a fast rate is small, while a slow rate still keeps the bucket.
TEST(DecayBank, AShareOfATrillionthIsTheLeast) {
  const auto share_after_a_day = [](double halvings) {
    const DecayRates rates(std::vector<double>{std::exp2(-halvings / 288), 0.9999});
    DecayBank bank(rates);
    bank.Step(1, std::vector<BucketShare>{{20, 1.0F}});
    bank.Step(288, std::vector<BucketShare>{{10, 1.0F}});
    BankShares shares;
    bank.Shares(&shares);
    EXPECT_GT(shares.over[1], 0.4) << "at the slow rate";
    return shares.over[0];
  };
  EXPECT_NEAR(share_after_a_day(37) / std::exp2(-37), 1, 1e-4);
  EXPECT_EQ(share_after_a_day(42), 0);
}

TEST(DecayBank, HasUpToSixteenRates) {
  std::vector<double> half_lives;
  for (int m = 1; m <= DecayRates::kMax; ++m) half_lives.push_back(m * 12 * kHourOfBank);
  const DecayRates rates = DecayRates::FromHalfLives(half_lives);
  DecayBank bank(rates);
  NaiveBank naive(rates);
  const std::vector<BucketShare> signal = {{10, 1}, {20, 3}};
  for (const int32_t elapsed : {1, 5, 300}) {
    bank.Step(elapsed, signal);
    naive.Step(elapsed, signal);
  }
  CheckAgainst(naive, bank);
}

TEST(DecayBank, OfTheGreatestAgeComesBack) {
  const DecayRates rates = DecayRates::FromHalfLives(kHalfLives);
  DecayBank bank(rates), loaded(rates);
  bank.Step(0, std::vector<BucketShare>{{10, 1.0F}});
  for (int i = 0; i < 3; ++i) bank.Step(std::numeric_limits<int32_t>::max(), {});
  std::string bytes;
  ByteWriter out(&bytes);
  bank.Save(out);
  ByteReader in(bytes);
  EXPECT_TRUE(loaded.Load(in).ok());
}

}  // namespace
}  // namespace taut
