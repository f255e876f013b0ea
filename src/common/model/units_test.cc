#include "common/model/units.h"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(Units, ASizeOfAPoolHasAUnit) {
  EXPECT_EQ(ParseSize("4GiB").value(), 4.0 * (1 << 30));
  EXPECT_EQ(ParseSize("4B").value(), 4);
  EXPECT_EQ(ParseSize("0").value(), 0);
  EXPECT_EQ(ParseSize("4294967296").value(), 4294967296.0);
  EXPECT_EQ(ParseSize("4").status().message(),
            "\"4\" has no unit, and is under 1 MiB in bytes; expected one such as 4GiB");
}

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
