#include "brain/economy/money.h"

#include <numeric>

#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using testing::ElementsAre;

TEST(Money, ReadsAndWritesText) {
  EXPECT_EQ(ParseMoney("12.50")->micros, 12'500'000);
  EXPECT_EQ(ParseMoney("-0.000001")->micros, -1);
  EXPECT_EQ(ParseMoney("+7")->micros, 7'000'000);
  EXPECT_EQ(ParseMoney("9223372036854.775807")->micros, INT64_MAX);
  EXPECT_EQ(ParseMoney("-9223372036854.775808")->micros, INT64_MIN);
  EXPECT_EQ(ToText({12'500'000}), "12.50");
  EXPECT_EQ(ToText({0}), "0.00");
  EXPECT_EQ(ToText({-1}), "-0.000001");
  EXPECT_EQ(ToText({1'230'000'100}), "1230.0001");
  EXPECT_EQ(ToText({INT64_MIN}), "-9223372036854.775808");
}

TEST(Money, RefusesOtherText) {
  for (const char* text :
       {"", "-", ".5", "5.", "1.0000001", "1,5", "1e3", " 1", "0x1", "1.-5", "--1", "1.2.3"})
    EXPECT_EQ(ParseMoney(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  for (const char* text : {"9223372036854.775808", "-9223372036854.775809", "99999999999999999999999999"})
    EXPECT_EQ(ParseMoney(text).status().code(), absl::StatusCode::kOutOfRange) << text;
}

TEST(Money, EveryAmountReadsBack) {
  Rng rng(1);
  for (int i = 0; i < 5000; ++i) {
    const Money money{static_cast<int64_t>(rng.Next()) >> rng.Below(63)};
    EXPECT_EQ(*ParseMoney(ToText(money)), money);
  }
}

TEST(Money, SumsAreChecked) {
  EXPECT_EQ(Add({5}, {-7})->micros, -2);
  EXPECT_EQ(Subtract({5}, {7})->micros, -2);
  EXPECT_EQ(Add({INT64_MAX}, {1}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Subtract({INT64_MIN}, {1}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Subtract({0}, {INT64_MIN}).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(PriceTimes, RoundsHalvesUp) {
  EXPECT_EQ(PriceTimes({3}, 1, 2)->micros, 2);
  EXPECT_EQ(PriceTimes({-3}, 1, 2)->micros, -1);
  EXPECT_EQ(PriceTimes({-5}, 1, 3)->micros, -2);
  EXPECT_EQ(PriceTimes({4}, 1, 3)->micros, 1);
  EXPECT_EQ(PriceTimes({5}, 1, 3)->micros, 2);
  EXPECT_EQ(PriceTimes({30'000}, 3'600'000, 3'600'000)->micros, 30'000);
  EXPECT_EQ(PriceTimes({INT64_MAX}, UINT64_MAX, UINT64_MAX)->micros, INT64_MAX);
  EXPECT_EQ(PriceTimes({INT64_MAX}, 2, 1).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(ShareOf, RoundsDown) {
  EXPECT_EQ(ShareOf({19}, 100'000).micros, 1);
  EXPECT_EQ(ShareOf({INT64_MAX}, kWholePpm).micros, INT64_MAX);
  EXPECT_EQ(ShareOf({INT64_MAX}, 0).micros, 0);
}

TEST(Split, ServesLargestRemaindersThenIndex) {
  EXPECT_THAT(SplitUnits(10, std::vector<uint64_t>{1, 1, 1}), ElementsAre(4, 3, 3));
  EXPECT_THAT(SplitUnits(10, std::vector<uint64_t>{0, 0, 0}), ElementsAre(4, 3, 3));
  EXPECT_THAT(SplitUnits(10, std::vector<uint64_t>{0, 1, 0}), ElementsAre(0, 10, 0));
  // the exact parts are 5.4, 3.3 and 1.3
  EXPECT_THAT(SplitUnits(10, std::vector<uint64_t>{54, 33, 13}), ElementsAre(6, 3, 1));
  EXPECT_THAT(Split({-10}, std::vector<uint64_t>{1, 1, 1}), ElementsAre(Money{-4}, Money{-3}, Money{-3}));
  EXPECT_THAT(Split({INT64_MIN}, std::vector<uint64_t>{UINT64_MAX}), ElementsAre(Money{INT64_MIN}));
}

TEST(Split, PartsAddUpAndAreWithinOneOfTheirShare) {
  Rng rng(2);
  for (int i = 0; i < 5000; ++i) {
    const uint64_t total = rng.Next() >> rng.Below(64);
    std::vector<uint64_t> weights(1 + rng.Below(20));
    for (uint64_t& w : weights) w = rng.Below(4) == 0 ? 0 : rng.Next() >> rng.Below(64);
    const std::vector<uint64_t> parts = SplitUnits(total, weights);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), uint64_t{0}), total);
    long double sum = 0;
    for (const uint64_t w : weights) sum += static_cast<long double>(w);
    if (sum == 0) continue;
    for (size_t k = 0; k < parts.size(); ++k) {
      const long double share =
          static_cast<long double>(total) * (static_cast<long double>(weights[k]) / sum);
      EXPECT_NEAR(static_cast<double>(static_cast<long double>(parts[k]) - share), 0,
                  1 + 1e-17 * static_cast<double>(total));
      EXPECT_TRUE(weights[k] > 0 || parts[k] == 0);
    }
  }
}

// A larger weight never yields a smaller part of a total.
TEST(Split, IsMonotoneInAWeight) {
  Rng rng(3);
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint64_t> weights(2 + rng.Below(8));
    for (uint64_t& w : weights) w = 1 + rng.Below(50);
    const uint64_t total = rng.Below(200);
    const size_t k = rng.Below(weights.size());
    const uint64_t before = SplitUnits(total, weights)[k];
    weights[k] += 1 + rng.Below(20);
    EXPECT_GE(SplitUnits(total, weights)[k], before);
  }
}

TEST(RoundedText, HasCentsAndThousands) {
  EXPECT_EQ(RoundedText({1'234'567'890'000}), "1,234,567.89");
  EXPECT_EQ(RoundedText({5'000}), "0.01") << "halves away from 0";
  EXPECT_EQ(RoundedText({4'999}), "0.00");
  EXPECT_EQ(RoundedText({-4'999}), "0.00") << "no minus of nothing";
  EXPECT_EQ(RoundedText({-999'995'000}), "-1,000.00");
  EXPECT_EQ(RoundedText({INT64_MIN}), "-9,223,372,036,854.78");
}

}  // namespace
}  // namespace taut::brain
