#include "server/ingest/series_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(SeriesTextTest, ReadsWhatPrometheusPrints) {
  const auto labels = ParseSeriesText(R"(container_cpu{pod="web-0",namespace="shop"})");
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_THAT(*labels, ElementsAre(Pair("__name__", "container_cpu"), Pair("namespace", "shop"),
                                   Pair("pod", "web-0")));
}

TEST(SeriesTextTest, TakesTheFormsPeopleWrite) {
  EXPECT_THAT(*ParseSeriesText("up"), ElementsAre(Pair("__name__", "up")));
  EXPECT_THAT(*ParseSeriesText("  job:cpu:rate5m { } "), ElementsAre(Pair("__name__", "job:cpu:rate5m")));
  EXPECT_THAT(*ParseSeriesText("{__name__='up', a = `x\\y` ,}"),
              ElementsAre(Pair("__name__", "up"), Pair("a", "x\\y")));
  EXPECT_THAT(*ParseSeriesText(R"(up{a="q\"b\\s\n",b=""})"),
              ElementsAre(Pair("__name__", "up"), Pair("a", "q\"b\\s\n"), Pair("b", "")));
}

TEST(SeriesTextTest, SaysWhatIsWrongAndWhere) {
  const auto error = [](std::string_view text) {
    return std::string(Message(ParseSeriesText(text).status()));
  };
  EXPECT_THAT(error(""), HasSubstr("metric's name"));
  EXPECT_THAT(error("9up"), HasSubstr("column 1: a metric's name"));
  EXPECT_THAT(error("{a=\"x\"}"), HasSubstr("__name__"));
  EXPECT_THAT(error("up{a}"), HasSubstr("column 5: '='"));
  EXPECT_THAT(error("up{a=x}"), HasSubstr("column 6: a value in quotes"));
  EXPECT_THAT(error("up{a=\"x}"), HasSubstr("a value in quotes"));
  EXPECT_THAT(error("up{a=\"x\" b=\"y\"}"), HasSubstr("column 10: ',' or '}'"));
  EXPECT_THAT(error("up{a=\"x\""), HasSubstr("is missing"));
  EXPECT_THAT(error("up{a=\"1\",a=\"2\"}"), HasSubstr("a is repeated"));
  EXPECT_THAT(error("up{} 1"), HasSubstr("the end"));
}

RC_GTEST_PROP(SeriesTextProperty, WhatIsWrittenReadsBack, ()) {
  const auto values = *rc::gen::container<std::map<std::string, std::string>>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z'))),
      rc::gen::arbitrary<std::string>());
  LabelList labels = {{"__name__", *rc::gen::nonEmpty(rc::gen::arbitrary<std::string>())}};
  labels.insert(labels.end(), values.begin(), values.end());
  const auto back = ParseSeriesText(SeriesText(labels));
  RC_ASSERT(back.ok());
  RC_ASSERT(*back == labels);
}

}  // namespace
}  // namespace taut::server
