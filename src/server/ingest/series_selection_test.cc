#include "server/ingest/series_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Texts(const SeriesSelection& selection, std::span<const HistorySelector> wanted) {
  std::vector<std::string> out;
  for (const HistorySelector& s : selection.Narrow(wanted)) out.push_back(s.text);
  return out;
}

void Add(SeriesSelection& selection, std::string_view metric, std::string_view pod,
         std::string_view node = "") {
  std::vector<LabelView> labels = {{"__name__", metric}, {"namespace", "shop"}, {"pod", pod}};
  if (!node.empty()) labels.push_back({"node", node});
  selection.Add(labels);
}

const HistorySelector kWanted[] = {{R"({__name__="cpu",cpu=~"|total"})", false},
                                   {R"({__name__="cpu_more"})", false}};

TEST(SeriesSelection, OneSelectorAMetricFitsAllItsSeries) {
  SeriesSelection selection;
  Add(selection, "cpu", "web-1", "n1");
  Add(selection, "cpu", "web.2");
  Add(selection, "memory", "web-1");
  EXPECT_EQ(selection.series(), 3U);
  EXPECT_THAT(Texts(selection, kWanted),
              ElementsAre(R"({__name__="cpu",cpu=~"|total",namespace="shop",pod=~"web-1|web\\.2"})",
                          R"({__name__="memory",pod="web-1",namespace="shop"})"));
  EXPECT_TRUE(Texts({}, kWanted).empty());
}

TEST(SeriesSelection, SelectionsAddUp) {
  SeriesSelection one, two;
  Add(one, "cpu", "a", "n1");
  Add(two, "cpu", "b", "n1");
  Add(two, "memory", "b");
  one.Add(two);
  EXPECT_EQ(one.series(), 3U);
  EXPECT_THAT(Texts(one, {}), ElementsAre(R"({__name__="cpu",node="n1",pod=~"a|b",namespace="shop"})",
                                          R"({__name__="memory",pod="b",namespace="shop"})"));
}

// Ten thousand pods are not listed one by one: the selector contains only the namespace.
TEST(SeriesSelection, LabelsOfManyValuesAreLeftOut) {
  SeriesSelection selection;
  for (int i = 0; i < 10'000; ++i) Add(selection, "cpu", StrCat("web-", i), StrCat("node-", i % 90));
  const std::vector<std::string> texts = Texts(selection, kWanted);
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_THAT(texts[0], Not(HasSubstr("pod")));
  EXPECT_THAT(texts[0], HasSubstr(R"(,namespace="shop",node=~"node-0|)"));
  EXPECT_LT(texts[0].size(), 5000U);
}

}  // namespace
}  // namespace taut::server
