#include "brain/recommend/level_values.h"

#include <string>

#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

LevelValues::All Made(Rng& rng) {
  LevelValues::All values;
  const auto first = static_cast<int>(rng.Below(LevelValues::kLevels + 1));
  const int last =
      first + static_cast<int>(rng.Below(static_cast<uint64_t>(LevelValues::kLevels - first + 1)));
  for (int k = 0; k < LevelValues::kLevels; ++k) {
    const bool between = k >= first && k < last;
    values[static_cast<size_t>(k)] = between ? static_cast<float>(rng.Below(4)) : 3.25F;
  }
  return values;
}

TEST(LevelValues, BeginWithZeros) {
  LevelValues::All all;
  LevelValues().Get(all);
  for (const float v : all) EXPECT_EQ(v, 0);
  EXPECT_EQ(LevelValues().heap_bytes(), 0U);
}

TEST(LevelValues, KeepEveryValueAndSavesThem) {
  Rng rng(11);
  LevelValues values;
  for (int round = 0; round < 500; ++round) {
    const LevelValues::All set = Made(rng);
    values.Set(set);
    LevelValues::All got;
    values.Get(got);
    ASSERT_EQ(got, set) << round;
    for (int k = 0; k < LevelValues::kLevels; ++k)
      ASSERT_EQ(values.At(k), set[static_cast<size_t>(k)]) << round << " " << k;
    std::string bytes;
    ByteWriter out(&bytes);
    values.Save(out);
    LevelValues again;
    ByteReader in(bytes);
    ASSERT_TRUE(again.Load(in).ok());
    EXPECT_EQ(in.remaining(), 0U);
    again.Get(got);
    ASSERT_EQ(got, set) << round;
  }
}

TEST(LevelValues, TakeRoomForWhatDiffersOnly) {
  LevelValues values;
  LevelValues::All all;
  for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<float>(k);
  values.Set(all);
  EXPECT_GE(values.heap_bytes(), 230 * sizeof(float));
  all.fill(7);
  all[100] = 0;
  values.Set(all);
  EXPECT_LE(values.heap_bytes(), 8 * sizeof(float));
}

TEST(LevelValues, DamageIsFoundAndChangesNothing) {
  Rng rng(12);
  LevelValues::All set = Made(rng);
  set[50] = 1;
  LevelValues values;
  values.Set(set);
  std::string bytes;
  ByteWriter out(&bytes);
  values.Save(out);
  const auto check = [&](const std::string& damaged) {
    LevelValues kept = values;
    ByteReader in(damaged);
    EXPECT_FALSE(kept.Load(in).ok());
    LevelValues::All got;
    kept.Get(got);
    EXPECT_EQ(got, set);
  };
  for (size_t cut = 0; cut < bytes.size(); ++cut) check(bytes.substr(0, cut));
  std::string too_many = bytes;
  too_many[0] = too_many[1] = static_cast<char>(200);
  check(too_many);
  std::string negative = bytes;
  negative[5] = static_cast<char>(0xc0);
  check(negative);
}

}  // namespace
}  // namespace taut::brain
