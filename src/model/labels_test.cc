#include "model/labels.h"

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

}  // namespace
}  // namespace taut
