#include "model/units.h"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(FormatChance, IsNeverNoneNorAll) {
  EXPECT_EQ(FormatChance(0), "under 0.1 %");
  EXPECT_EQ(FormatChance(0.0009), "under 0.1 %");
  EXPECT_EQ(FormatChance(0.001), "0.1 %");
  EXPECT_EQ(FormatChance(0.027), "2.7 %");
  EXPECT_EQ(FormatChance(0.994), "99 %");
  EXPECT_EQ(FormatChance(0.995), "over 99 %");
  EXPECT_EQ(FormatChance(1), "over 99 %");
}

}  // namespace
}  // namespace taut
