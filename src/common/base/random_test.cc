// Compares the random numbers with the published generator, and checks their distributions.
#include "common/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace taut {
namespace {

constexpr int kDraws = 200'000;

TEST(Rng, TheSameSeedGivesTheSameNumbersAndAnotherOthers) {
  Rng a(42), b(42), c(43);
  int same = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t n = a.Next();
    EXPECT_EQ(n, b.Next());
    same += n == c.Next() ? 1 : 0;
  }
  EXPECT_EQ(same, 0);
}

TEST(Rng, UniformIsUniform) {
  Rng rng(1);
  std::vector<int> tenths(10);
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.Uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    ++tenths[static_cast<size_t>(u * 10)];
  }
  for (const int n : tenths) EXPECT_NEAR(n, kDraws / 10, 6 * std::sqrt(kDraws * 0.09));
  const double v = rng.Uniform(-3, -2);
  EXPECT_TRUE(v >= -3 && v < -2);
}

TEST(Rng, BelowStaysBelowAndReachesAll) {
  Rng rng(2);
  std::vector<int> seen(7);
  for (int i = 0; i < kDraws; ++i) ++seen[rng.Below(7)];
  for (const int n : seen) EXPECT_NEAR(n, kDraws / 7.0, 6 * std::sqrt(kDraws * 6.0 / 49));
  EXPECT_EQ(rng.Below(1), 0U);
}

TEST(Rng, NormalHasItsMomentsAndParetoItsTail) {
  Rng rng(3);
  double sum = 0, squares = 0, beyond = 0;
  int over = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = rng.Normal();
    sum += z;
    squares += z * z;
    beyond += std::abs(z) > 1.959964 ? 1 : 0;
    const double x = rng.Pareto(2, 1.5);
    ASSERT_GE(x, 2);
    over += x > 8 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0, 6 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 6 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(beyond / kDraws, 0.05, 6 * std::sqrt(0.05 * 0.95 / kDraws));
  EXPECT_NEAR(over / double{kDraws}, 0.125, 6 * std::sqrt(0.125 * 0.875 / kDraws));  // (2/8)^1.5
}

TEST(Rng, ForksDependOnTheStreamAndNotOnTheOrder) {
  const Rng root(9);
  Rng first = root.Fork(1), second = root.Fork(2);
  Rng again = root.Fork(1);
  for (int i = 0; i < 100; ++i) {
    const uint64_t n = first.Next();
    EXPECT_EQ(n, again.Next());
    EXPECT_NE(n, second.Next());
  }
}

}  // namespace
}  // namespace taut
