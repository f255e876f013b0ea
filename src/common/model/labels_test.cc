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

TEST(SetSettingLabels, LeavesTheOthers) {
  std::vector<Label> labels = {{"app", "web"}, {"zone", "a"}};
  EXPECT_FALSE(SetSettingLabels({}, labels));
  const std::vector<Label> given = {{"tautline.dev/memory.upper", "4GiB"}, {"tautline.dev/mode", "auto"}};
  EXPECT_TRUE(SetSettingLabels(given, labels));
  EXPECT_FALSE(SetSettingLabels(given, labels));
  EXPECT_THAT(labels, testing::ElementsAre(Label("app", "web"), given[0], given[1], Label("zone", "a")));
  EXPECT_TRUE(SetSettingLabels({&given[1], 1}, labels));
  EXPECT_THAT(labels, testing::ElementsAre(Label("app", "web"), given[1], Label("zone", "a")));
  EXPECT_TRUE(SetSettingLabels({}, labels));
  EXPECT_THAT(labels, testing::ElementsAre(Label("app", "web"), Label("zone", "a")));
}

}  // namespace
}  // namespace taut
