#include "common/base/did_you_mean.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/base/nearest.h"

namespace taut {
namespace {

TEST(Nearest, ASwapOfNeighboursIsOneStep) {
  const std::vector<std::string_view> keys = {"analogs.keep", "analogs.disk", "analogs.risk"};
  EXPECT_EQ(NearestName("analogs.riks", keys), "analogs.risk");
  EXPECT_EQ(NearestName("", {}), "");
}

TEST(DidYouMean, SaysNothingWhereNoNameIsLikeIt) {
  const std::vector<std::string_view> keys = {"analogs.keep", "analogs.memory_oom_days", "peak.days"};
  EXPECT_EQ(DidYouMean("analogs.riks", keys), "");
  EXPECT_EQ(DidYouMean("analogs.kepe", keys), "; did you mean \"analogs.keep\"?");
  EXPECT_EQ(DidYouMean("peak.dayz", keys), "; did you mean \"peak.days\"?");
  EXPECT_EQ(DidYouMean("oom_days", keys), "; did you mean \"analogs.memory_oom_days\"?");
  EXPECT_EQ(DidYouMean("xyz", keys), "");
  EXPECT_EQ(DidYouMean("", keys), "");
  EXPECT_EQ(DidYouMean("a", {}), "");
}

}  // namespace
}  // namespace taut
