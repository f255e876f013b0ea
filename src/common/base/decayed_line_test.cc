#include "common/base/decayed_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "common/base/random.h"

namespace taut {
namespace {

double Wave(int i) { return 10 + 4 * std::sin(i * 0.1); }

TEST(DecayedLine, FindsWhatIsFixedAndWhatRises) {
  Rng random(7);
  DecayedLine line(500);
  for (int i = 0; i < 2000; ++i) {
    const double x = Wave(i);
    line.Add(x, 100 + 3 * x + random.Uniform());
  }
  ASSERT_TRUE(line.is_known());
  EXPECT_NEAR(line.slope(), 3, 0.05);
  EXPECT_NEAR(line.fixed(), 100.5, 0.5);
  EXPECT_NEAR(line.At(20), 160.5, 0.5);
}

TEST(DecayedLine, IsNotKnownFromTooFewPointsNoVariationOrNoise) {
  DecayedLine few(500), flat(500), noise(500), falling(500);
  Rng random(7);
  for (int i = 0; i < 2000; ++i) {
    const double x = Wave(i);
    if (i < 200) few.Add(x, 3 * x);
    flat.Add(10 + 0.1 * random.Uniform(), x);
    noise.Add(x, 100 * random.Uniform());
    falling.Add(x, 100 - x);
  }
  for (const DecayedLine* line : {&few, &flat, &noise, &falling}) {
    EXPECT_FALSE(line->is_known());
    EXPECT_EQ(line->slope(), 0);
    EXPECT_EQ(line->At(5), line->At(50));
  }
}

TEST(DecayedLine, NeverBeginsBelowZero) {
  DecayedLine line(100);
  for (int i = 0; i < 400; ++i) line.Add(Wave(i), 5 * Wave(i) - 20);
  EXPECT_EQ(line.fixed(), 0);
  EXPECT_NEAR(line.At(line.mean_x()), 5 * line.mean_x() - 20, 1e-6);
}

TEST(DecayedLine, OlderPointsCountLess) {
  DecayedLine line(100);
  for (int i = 0; i < 2000; ++i) line.Add(Wave(i), 50 + (i < 1000 ? 1 : 4) * Wave(i));
  EXPECT_NEAR(line.slope(), 4, 0.05);
}

TEST(DecayedLine, ComesBackAsSaved) {
  DecayedLine line(100);
  for (int i = 0; i < 300; ++i) line.Add(Wave(i), 3 * Wave(i));
  std::string bytes;
  ByteWriter out(&bytes);
  line.Save(out);
  DecayedLine loaded(100);
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  loaded.Add(1, 2);
  line.Add(1, 2);
  EXPECT_EQ(loaded.At(3), line.At(3));
  EXPECT_EQ(loaded.slope(), line.slope());

  std::string bad;
  ByteWriter bad_out(&bad);
  for (const double v : {1.0, 1.0, 1.0, std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0}) bad_out.Put(v);
  ByteReader bad_in(bad), short_in(std::string_view(bytes).substr(1));
  EXPECT_FALSE(loaded.Load(bad_in).ok());
  EXPECT_FALSE(loaded.Load(short_in).ok());
  EXPECT_EQ(loaded.slope(), line.slope());
}

}  // namespace
}  // namespace taut
