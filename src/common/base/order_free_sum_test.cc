#include "common/base/order_free_sum.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include "common/base/bottom_k.h"
#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

std::vector<double> Terms(uint64_t seed, int count) {
  Rng rng(seed);
  std::vector<double> terms;
  for (int i = 0; i < count; ++i)
    terms.push_back((rng.Uniform() < 0.2 ? -1 : 1) * std::exp(rng.Uniform(-300, 300)));
  return terms;
}

std::string Saved(const OrderFreeSum& sum) {
  std::string bytes;
  ByteWriter out(&bytes);
  sum.Save(out);
  return bytes;
}

TEST(OrderFreeSum, IsExactAndOfAnyOrder) {
  for (const uint64_t seed : {1, 2, 3}) {
    std::vector<double> terms = Terms(seed, 1000);
    OrderFreeSum up, down, left, right;
    long double sum = 0;
    for (const double term : terms) up.Add(term), sum += term;
    std::ranges::reverse(terms);
    for (const double term : terms) down.Add(term);
    for (size_t i = 0; i < terms.size(); ++i) (i % 3 == 0 ? left : right).Add(terms[i]);
    right.Merge(left);
    EXPECT_EQ(up.value(), down.value());
    EXPECT_EQ(up.value(), right.value());
    EXPECT_EQ(Saved(up), Saved(right));
    EXPECT_NEAR(up.value() / static_cast<double>(sum), 1, 1e-12);
  }
}

TEST(OrderFreeSum, HoldsEveryFiniteNumber) {
  for (const double number : {0.0, 1.0, -0.1, DBL_MAX, -DBL_MAX, DBL_MIN, DBL_TRUE_MIN, 1e-310, 3.7e15}) {
    OrderFreeSum sum;
    sum.Add(number);
    EXPECT_EQ(sum.value(), number);
    sum.Add(-number);
    EXPECT_EQ(sum.value(), 0);
  }
}

// A plain sum of doubles would lose each 1 that is added to 1e16.
TEST(OrderFreeSum, LosesNoSmallTerm) {
  OrderFreeSum sum;
  sum.Add(1e16);
  for (int i = 0; i < 1000; ++i) sum.Add(1);
  sum.Add(-1e16);
  EXPECT_EQ(sum.value(), 1000);
}

TEST(OrderFreeSum, LoadsOnlyWhatItSaves) {
  OrderFreeSum sum;
  for (const double term : Terms(4, 100)) sum.Add(term);
  const std::string bytes = Saved(sum);
  OrderFreeSum read;
  ByteReader in(bytes);
  ASSERT_TRUE(read.Load(in));
  EXPECT_EQ(read.value(), sum.value());
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader short_in(std::string_view(bytes).substr(0, cut));
    EXPECT_FALSE(read.Load(short_in)) << cut;
  }
  Rng rng(5);
  for (int i = 0; i < 2000; ++i) {
    std::string noise = bytes;
    noise[rng.Below(noise.size())] = static_cast<char>(rng.Below(256));
    ByteReader noise_in(noise);
    OrderFreeSum any;
    if (any.Load(noise_in)) any.Merge(any);
  }
  EXPECT_EQ(read.value(), sum.value());
}

TEST(BottomK, ALimitThatAnotherSampleReturnedChangesNothing) {
  constexpr size_t kK = 50;
  BottomK<int> whole(kK), first(kK), second(kK);
  Rng rng(6);
  std::vector<uint64_t> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back(rng.Next());
  for (int i = 0; i < 1000; ++i) whole.Add(keys[static_cast<size_t>(i)], i);
  for (int i = 0; i < 900; ++i) first.Add(keys[static_cast<size_t>(i)], i);
  first.Sort();
  second.Limit(first.bound());
  for (int i = 900; i < 1000; ++i) second.Add(keys[static_cast<size_t>(i)], i);
  EXPECT_LT(second.size(), kK / 2);
  first.Merge(second);
  ASSERT_EQ(first.Sort().size(), kK);
  for (size_t i = 0; i < kK; ++i) EXPECT_EQ(first.Sort()[i].value, whole.Sort()[i].value);
}

}  // namespace
}  // namespace taut
