#include "server/ingest/selectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using ::testing::ElementsAre;

MappingRule Rule(std::string metric, std::vector<LabelMatch> match = {},
                 SeriesKind kind = SeriesKind::kMemoryBytes) {
  return {"r", std::move(metric), std::move(match), kind, "j", "t", "", 1};
}

std::vector<std::string> Texts(const std::vector<MappingRule>& rules) {
  std::vector<std::string> out;
  for (const HistorySelector& s : SelectorsOf(rules)) out.push_back((s.facts ? "F" : "") + s.text);
  return out;
}

TEST(Selectors, OneForEachMetricAndOneForAllPatterns) {
  EXPECT_THAT(
      Texts({Rule("b|a"), Rule("a"), Rule("x_*"), Rule("y.*z|x_1")}),
      ElementsAre(R"({__name__="b"})", R"({__name__="a"})", R"({__name__=~"x_.*|y\\..*z",__name__!=""})"));
  EXPECT_TRUE(Texts({}).empty());
}

TEST(Selectors, FactsComeFirstAndOnlyOnce) {
  EXPECT_THAT(Texts({Rule("m_*"), Rule("m_owner", {}, SeriesKind::kOwner), Rule("k_1"),
                     Rule("k_*", {}, SeriesKind::kOwner)}),
              ElementsAre(R"(F{__name__="m_owner"})", R"(F{__name__=~"k_.*",__name__!=""})",
                          R"({__name__=~"m_.*",__name__!="",__name__!="m_owner",__name__!~"k_.*"})"));
}

TEST(Selectors, LabelsThatAllRulesOfAMetricAskForNarrow) {
  EXPECT_THAT(Texts({Rule("m", {{"a", "x", false}, {"b", "", true}, {"c", "|<none>", true}}),
                     Rule("m", {{"a", "y*", false}, {"b", "", true}})}),
              ElementsAre(R"({__name__="m",a=~"x|y.*",b!=""})"));
  EXPECT_THAT(Texts({Rule("m", {{"a", "x\"\\", false}, {"no.label", "x", false}})}),
              ElementsAre(R"({__name__="m",a="x\"\\"})"));
  // One rule accepts all values, the other rule does not.
  EXPECT_THAT(Texts({Rule("m", {{"a", "x", false}}), Rule("m")}), ElementsAre(R"({__name__="m"})"));
  // The pattern of another rule also matches the name.
  EXPECT_THAT(Texts({Rule("m", {{"a", "x", false}}, SeriesKind::kOwner), Rule("m*")}),
              ElementsAre(R"(F{__name__="m"})", R"({__name__=~"m.*",__name__!="",__name__!="m"})"));
  EXPECT_THAT(Texts({Rule("m*", {{"a", "x", false}}), Rule("m1", {{"a", "y", false}})}),
              ElementsAre(R"({__name__=~"m.*",__name__!="",a=~"x|y"})"));
}

TEST(Selectors, TheBuiltinRules) {
  const std::vector<std::string> texts = Texts(BuiltinRules());
  EXPECT_THAT(texts, ::testing::Contains(R"({__name__="container_cpu_usage_seconds_total",cpu=~"|total"})"));
  EXPECT_THAT(texts, ::testing::Contains(R"(F{__name__="kube_pod_owner"})"));
  EXPECT_THAT(texts, ::testing::Not(::testing::Contains(::testing::HasSubstr("status_replicas"))))
      << "numbers of tasks are of now";
  EXPECT_THAT(texts,
              ::testing::Contains(R"({__name__="kube_pod_container_resource_limits",container!~"|POD",)"
                                  R"(pod!="",namespace!="",resource=~"cpu|memory"})"));
}

}  // namespace
}  // namespace taut::server
