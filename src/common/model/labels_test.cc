#include "common/model/labels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Labels, AreMergedByKeyAndStayInOrder) {
  std::vector<Label> labels = {{"b", "1"}, {"d", "2"}};
  EXPECT_TRUE(MergeLabels(std::vector<Label>{{"e", "5"}, {"a", "0"}, {"d", "3"}}, labels));
  EXPECT_THAT(labels, ElementsAre(Pair("a", "0"), Pair("b", "1"), Pair("d", "3"), Pair("e", "5")));
  EXPECT_FALSE(MergeLabels(std::vector<Label>{{"a", "0"}, {"e", "5"}}, labels));
  EXPECT_FALSE(MergeLabels({}, labels));
}

TEST(WithSettingLabels, LeavesTheOthers) {
  const std::vector<Label> none = {{"app", "web"}, {"zone", "a"}};
  EXPECT_EQ(WithSettingLabels({}, none), std::nullopt);
  const std::vector<Label> given = {{"tautline.dev/memory.upper", "4GiB"}, {"tautline.dev/mode", "auto"}};
  const std::vector<Label> both = {none[0], given[0], given[1], none[1]}, one = {none[0], given[1], none[1]};
  EXPECT_EQ(WithSettingLabels(given, none), both);
  EXPECT_EQ(WithSettingLabels(given, both), std::nullopt);
  EXPECT_EQ(WithSettingLabels({&given[1], 1}, both), one);
  EXPECT_EQ(WithSettingLabels({}, one), none);
}

}  // namespace
}  // namespace taut
