#include "server/ingest/query_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Read {
  absl::Status status;
  std::vector<std::string> series;  // texts such as "a=1 b=2 | 1000:2.5"
  std::string warning;
};

Read Parse(std::string body) {
  Read out;
  QueryAnswerParser parser;
  out.status = parser.Parse(body, [&out](auto labels, auto samples) {
    std::string text;
    for (const LabelView& l : labels) StrAppend(&text, l.name, "=", l.value, " ");
    text += "|";
    for (const RemoteSample& s : samples) StrAppend(&text, " ", s.timestamp_ms, ":", s.value);
    out.series.push_back(text);
    return absl::OkStatus();
  });
  out.warning = parser.warning();
  return out;
}

std::string Matrix(std::string_view result) {
  return StrCat(R"({"status":"success","data":{"resultType":"matrix","result":[)", result, "]}}");
}

TEST(QueryAnswer, SeriesComeWithSortedLabelsAndExactTimes) {
  const Read read = Parse(Matrix(
      R"({"metric":{"b":"2","__name__":"m","A":"x\"y\u00e9"},"values":[[1435781430.781,"1.5"],[1435781445,"1e+06"]]},
         {"values":[[0.001,"3"]],"metric":{}})"));
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_THAT(read.series,
              ElementsAre("A=x\"yé __name__=m b=2 | 1435781430781:1.5 1435781445000:1000000", "| 1:3"));
}

struct SeriesRead {
  absl::Status status;
  std::vector<std::string> series;
};
SeriesRead ParseSeries(std::string body) {
  SeriesRead out;
  QueryAnswerParser parser;
  out.status = parser.ParseSeries(body, [&out](auto labels) {
    std::string text;
    for (const LabelView& l : labels) StrAppend(&text, l.name, "=", l.value, " ");
    out.series.push_back(text);
    return absl::OkStatus();
  });
  return out;
}

TEST(QueryAnswer, SeriesWithoutSamplesHaveSortedLabels) {
  const SeriesRead read =
      ParseSeries(R"({"status":"success","data":[{"b":"2","__name__":"m"},{"__name__":"n","a":"\"x\""}]})");
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_THAT(read.series, ElementsAre("__name__=m b=2 ", "__name__=n a=\"x\" "));
  EXPECT_TRUE(ParseSeries(R"({"status":"success","data":[]})").status.ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(ParseSeries(R"({"status":"error","error":"too many"})").status));
  EXPECT_TRUE(absl::IsDataLoss(ParseSeries(Matrix("")).status));
  EXPECT_TRUE(absl::IsDataLoss(ParseSeries(R"({"status":"success","data":[{"a":1}]})").status));
}

TEST(QueryAnswer, SpecialValuesAreNumbers) {
  const Read read = Parse(Matrix(R"({"metric":{},"values":[[1,"NaN"],[2,"+Inf"],[3,"-Inf"],[4,"-0"]]})"));
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_THAT(read.series, ElementsAre("| 1000:nan 2000:inf 3000:-inf 4000:-0"));
}

TEST(QueryAnswer, UnknownFieldsAndNativeHistogramsArePassedOver) {
  const Read read = Parse(
      R"({"status":"success","isPartial":false,"data":{"resultType":"matrix","stats":{"x":[1]},"result":[
        {"metric":{"a":"b"},"histograms":[[1,{"count":"3"}]]}]},"warnings":["half of it","more"]})");
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_TRUE(read.series.empty());
  EXPECT_EQ(read.warning, "half of it");
}

TEST(QueryAnswer, WhatIsNoSuchAnswerIsSaid) {
  for (const char* body :
       {"", "{", "<html>no</html>", "[]", "1", "{}", R"({"status":"success"})", "\xff\xfe",
        R"({"status":"success","data":{"result":{}}})", R"({"status":"success","data":null})"}) {
    const Read read = Parse(body);
    EXPECT_TRUE(absl::IsDataLoss(read.status)) << body << ": " << read.status;
  }
  for (const char* values : {R"([1,"x"])", R"([1,""])", R"(["1","1"])", R"([1])", R"([1,"1","1"])",
                             R"([1,1])", R"([1e300,"1"])", R"([1,"1 "])", R"([1,"1e999"])", "1", "[]"}) {
    const Read read = Parse(Matrix(StrCat(R"({"metric":{},"values":[)", values, "]}")));
    EXPECT_TRUE(absl::IsDataLoss(read.status)) << values << ": " << read.status;
  }
  const Read vector = Parse(R"({"status":"success","data":{"resultType":"vector","result":[]}})");
  EXPECT_THAT(Message(vector.status), HasSubstr("a vector; expected a matrix"));
  const Read cut = Parse(Matrix(R"({"metric":{},"values":[[1,"1"]]})").substr(0, 80));
  EXPECT_TRUE(absl::IsDataLoss(cut.status)) << cut.status;
}

TEST(QueryAnswer, TheServersOwnErrorIsTold) {
  const std::string body = R"({"status":"error","errorType":"bad_data","error":"parse \"error\""})";
  EXPECT_EQ(Parse(body).status, absl::FailedPreconditionError("the server reports: parse \"error\""));
  EXPECT_EQ(ErrorTextOf(body), "parse \"error\"");
  EXPECT_EQ(ErrorTextOf("  Bad Gateway\nfoo"), "Bad Gateway");
  EXPECT_EQ(ErrorTextOf(""), "");
}

TEST(QueryAnswer, AnErrorOfTheReceiverEndsIt) {
  std::string body = Matrix(R"({"metric":{},"values":[[1,"1"]]},{"metric":{},"values":[[1,"1"]]})");
  int calls = 0;
  const absl::Status status = QueryAnswerParser().Parse(body, [&calls](auto, auto) {
    ++calls;
    return absl::InternalError("full");
  });
  EXPECT_EQ(status, absl::InternalError("full"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace taut::server
