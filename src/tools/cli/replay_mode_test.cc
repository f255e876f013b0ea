#include "tools/cli/replay_mode.h"

#include <vector>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;

TEST(ReplayMode, IsThatOfTheDaemonOrNone) {
  const auto none = ReplayMode("recommend", {});
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
  const std::vector<std::string> policy = {"min_change=10%", "change_period=2h", "canary.share=0.2",
                                           "maintenance=Sat 02:00-06:00", "version=web:2 since 5d"};
  const auto automatic = ReplayMode("auto", policy);
  ASSERT_TRUE(automatic.ok());
  ASSERT_TRUE(automatic->has_value());
  EXPECT_EQ((*automatic)->mode, Mode::kAuto);
  EXPECT_DOUBLE_EQ((*automatic)->min_change, 0.1);
  EXPECT_EQ((*automatic)->change_period_s, 7200);
  EXPECT_EQ((*automatic)->maintenance.size(), 1U);
  EXPECT_TRUE((*automatic)->WatchesVersion(5 * 86'400 + 300));
  EXPECT_FALSE((*automatic)->WatchesVersion(6 * 86'400));
}

TEST(ReplayMode, RefusesWhatHasNoEffect) {
  const auto error = [](const std::string& mode, std::vector<std::string> policy) {
    return std::string(Message(ReplayMode(mode, policy).status()));
  };
  EXPECT_THAT(error("off", {}), HasSubstr("expected recommend, observe, canary or auto"));
  EXPECT_THAT(error("recommend", {"min_change=1%"}), HasSubstr("no effect"));
  EXPECT_THAT(error("auto", {"mode=observe"}), HasSubstr("expected one of min_change"));
  EXPECT_THAT(error("auto", {"memory.upper=1GiB"}), HasSubstr("memory.upper"));
  EXPECT_THAT(error("auto", {"min_change=often"}), HasSubstr("min_change"));
  EXPECT_THAT(error("auto", {"min_change"}), HasSubstr("key=value"));
}

}  // namespace
}  // namespace taut::tools
