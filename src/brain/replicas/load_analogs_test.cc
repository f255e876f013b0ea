#include "brain/replicas/load_analogs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "common/base/random.h"

namespace taut::brain {
namespace {

TEST(LoadMoves, SaysHowOftenALoadRises) {
  LoadMoves moves;
  for (int i = 0; i < 990; ++i) moves.Add(10, 10);
  for (int i = 0; i < 10; ++i) moves.Add(10, 20);
  EXPECT_NEAR(moves.ChanceAbove(1.5), 0.01, 1e-9);
  EXPECT_NEAR(moves.ChanceAbove(0.5), 1, 1e-9);
  EXPECT_NEAR(moves.ChanceAbove(2.2), 0, 1e-9);
  EXPECT_NEAR(moves.ChanceAbove(1), 0.5 * 0.99 + 0.01, 1e-6) << "half of those that stay";
}

TEST(LoadMoves, FromNothingIsARiseBeyondAll) {
  LoadMoves moves;
  moves.Add(0, 5);
  moves.Add(0, 0);
  moves.Add(5, 0);
  moves.Add(1, 1e9);
  EXPECT_NEAR(moves.ChanceAbove(100), 0.5, 1e-9);
  EXPECT_NEAR(moves.ChanceAbove(0.5), 0.75, 1e-9) << "no load stays, and to nothing is a fall beyond all";
  EXPECT_NEAR(moves.ChanceAbove(1e-9), 1, 1e-9);
}

TEST(LoadMoves, ChancesFallWithTheRatio) {
  Rng rng(3);
  LoadMoves moves;
  for (int i = 0; i < 5000; ++i) moves.Add(1, std::exp(rng.Normal()));
  double last = 1;
  for (double ratio = 0.01; ratio < 100; ratio *= 1.01) {
    const double chance = moves.ChanceAbove(ratio);
    EXPECT_LE(chance, last + 1e-12);
    last = chance;
  }
  EXPECT_NEAR(moves.ChanceAbove(std::exp(1.0)), 0.159, 0.02);
}

TEST(LoadAnalogs, KnowsAfterADayOfTenJobsAndForgets) {
  LoadAnalogs analogs;
  LoadMoves day;
  for (int i = 0; i < 288; ++i) day.Add(1, 2);
  for (int j = 0; j < 9; ++j) analogs.Take(day);
  EXPECT_FALSE(analogs.is_known());
  analogs.Take(day);
  ASSERT_TRUE(analogs.is_known());
  EXPECT_NEAR(analogs.ChanceAbove(1.5), 1, 1e-6);
  std::string bytes;
  ByteWriter out(&bytes);
  analogs.Save(out);
  LoadAnalogs loaded;
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_EQ(loaded.ChanceAbove(1.9), analogs.ChanceAbove(1.9));
  for (int d = 0; d < 14; ++d) loaded.CloseDay();
  EXPECT_FALSE(loaded.is_known());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bytes.replace(8, sizeof nan, reinterpret_cast<const char*>(&nan), sizeof nan);
  ByteReader bad(bytes), cut(std::string_view(bytes).substr(0, 9));
  EXPECT_FALSE(analogs.Load(bad).ok());
  EXPECT_FALSE(analogs.Load(cut).ok());
  EXPECT_TRUE(analogs.is_known());
}

}  // namespace
}  // namespace taut::brain
