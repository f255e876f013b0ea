#include "common/base/pattern.h"

#include <string>

#include "gtest/gtest.h"

namespace taut {
namespace {

TEST(FitsPattern, StarsAlternativesAndEmptiness) {
  EXPECT_TRUE(FitsPattern("", ""));
  EXPECT_FALSE(FitsPattern("a", ""));
  EXPECT_TRUE(FitsPattern("", "*"));
  EXPECT_TRUE(FitsPattern("total", "|total"));
  EXPECT_TRUE(FitsPattern("", "|total"));
  EXPECT_FALSE(FitsPattern("tota", "|total"));
  EXPECT_TRUE(FitsPattern("abcabd", "*abd"));
  EXPECT_TRUE(FitsPattern("aXbYc", "a*b*c"));
  EXPECT_FALSE(FitsPattern("aXbY", "a*b*c"));
  EXPECT_FALSE(FitsPattern(std::string(5000, 'a'), "*a*a*a*a*a*a*a*b"));
}

}  // namespace
}  // namespace taut
