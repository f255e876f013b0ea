// Tests of load series from CSV and JSON: formats, gaps, and skipped rows.
#include "tools/trace/load_reader.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using testing::ElementsAre;

class LoadReader : public testing::Test {
 protected:
  LoadReader()
      : folder_(std::filesystem::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
  }
  ~LoadReader() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::vector<LoadSeries>> Read(const std::string& text, bool strict = false,
                                               const std::string& job_label = "") {
    report_ = ReadReport();
    const std::string path = folder_ / "web.csv";
    std::ofstream(path) << text;
    return ReadLoads({{path}, strict, job_label}, report_);
  }

  const std::filesystem::path folder_;
  ReadReport report_;
};

constexpr float kAbsent = LoadSeries::kAbsentLoad;

TEST_F(LoadReader, ReadsTimeJobLoadInAnyOrderOfColumns) {
  const auto loads =
      Read("job,load,time\nb,1,60\na,5.5,0\nb,2,120\na,6,300\nb,4,240\nb,3,180\n\"a\",7,600\n");
  ASSERT_TRUE(loads.ok()) << loads.status();
  ASSERT_EQ(loads->size(), 2);
  EXPECT_EQ((*loads)[0].job, "b");
  EXPECT_EQ((*loads)[0].start_s, 60);
  EXPECT_EQ((*loads)[0].step_s, 60);
  EXPECT_THAT((*loads)[0].load, ElementsAre(1, 2, kAbsent, 4));
  EXPECT_EQ((*loads)[1].step_s, 300);
  EXPECT_THAT((*loads)[1].load, ElementsAre(5.5F, 6, 7));
  EXPECT_EQ(report_.rows, 7);
  EXPECT_EQ(report_.rows_used, 6);
  EXPECT_EQ(report_.skipped.at("time before that of the row before").count, 1);
}

TEST_F(LoadReader, ReadsATimeAndAValueWithOrWithoutNames) {
  for (const char* head : {"ts,value\n", "", "timestamp,load\n"}) {
    const auto loads =
        Read(std::string(head) + "1628640000,39.7\n1628640060,40\n1628640180,41\n1628640240,42\n");
    ASSERT_TRUE(loads.ok()) << loads.status();
    ASSERT_EQ(loads->size(), 1);
    EXPECT_EQ(loads->front().job, "web");
    EXPECT_EQ(loads->front().start_s, 1628640000);
    EXPECT_THAT(loads->front().load, ElementsAre(39.7F, 40, kAbsent, 41, 42));
  }
}

TEST_F(LoadReader, ReadsMillisecondsMinutesAndDates) {
  const auto start = [&](const std::string& text) {
    const auto loads = Read(text);
    return loads.ok() ? std::pair(loads->front().start_s, loads->front().step_s)
                      : std::pair<int64_t, int64_t>();
  };
  EXPECT_EQ(start("time,load\n1628640000000,1\n1628640030000,2\n"),
            std::pair(int64_t{1628640000}, int64_t{30}));
  EXPECT_EQ(start("minute,requests\n5,1\n6,2\n"), std::pair(int64_t{300}, int64_t{60}));
  EXPECT_EQ(start("time,load\n2021-08-11T00:00:00Z,1\n2021-08-11T00:01:00Z,2\n"),
            std::pair(int64_t{1628640000}, int64_t{60}));
}

TEST_F(LoadReader, CountsRowsThatAreNotUsedByCause) {
  const auto loads = Read(
      "time,load\n0,1\n60,-1\n60,nan\n60,\n60,2\n60,3\nx,4\n120,1,2\n120,4\n"
      "111111111111111111,5\n");
  ASSERT_TRUE(loads.ok()) << loads.status();
  EXPECT_THAT(loads->front().load, ElementsAre(1, 2, 4));
  EXPECT_EQ(report_.skipped.at("load is negative or no number").count, 2);
  EXPECT_EQ(report_.skipped.at("no load in the row").count, 1);
  EXPECT_EQ(report_.skipped.at("same time as the row before").count, 1);
  EXPECT_EQ(report_.skipped.at("bad time").count, 2);
  EXPECT_EQ(report_.skipped.at("wrong number of columns").count, 1);
  EXPECT_THAT(report_.skipped.at("bad time").examples.front(), testing::EndsWith("web.csv:8: x,4"));
}

TEST_F(LoadReader, RowsWithinOneStepAreAveraged) {
  const auto loads = Read("time,load\n0,1\n60,2\n120,3\n130,5\n180,6\n");
  ASSERT_TRUE(loads.ok());
  EXPECT_THAT(loads->front().load, ElementsAre(1, 2, 4, 6));
}

TEST_F(LoadReader, SaysWhatIsWrong) {
  EXPECT_THAT(std::string(Read("time,cpu_cores\n0,1\n").status().message()),
              testing::HasSubstr("the first line must name the columns time"));
  EXPECT_THAT(std::string(Read("time,load\n0,1\n").status().message()),
              testing::HasSubstr("no usable load: a job needs two rows"));
  EXPECT_THAT(std::string(Read("time,load\n0,1\n60,-1\n120,2\n", true).status().message()),
              testing::HasSubstr("web.csv:3: load is negative or no number: 60,-1"));
  EXPECT_FALSE(Read("time,load\n0,1\n1,2\n2,2\n1000000000,3\n").ok());
  EXPECT_THAT(report_.warnings,
              testing::Contains("job \"web\": not replayed, 4 rows in 1000000001 steps of 1 s"));
  // A row with a wrong, distant time must not extend the series to this time.
  EXPECT_TRUE(Read("time,load\n0,1\n60,2\n1628640000,3\n").ok());
  EXPECT_EQ(report_.skipped.at("more than 38 years after the job's first row").count, 1);
}

TEST_F(LoadReader, NamesMayHaveCommasAndQuotes) {
  const auto loads = Read(
      "time,job,load\n0,\"a,b\",1\n60,\"a,b\",2\n0,\"say \"\"x\"\"\",1\n60,\"say "
      "\"\"x\"\"\",2\n0,\xC3\xBC,1\n60,\xC3\xBC,1\n");
  ASSERT_TRUE(loads.ok()) << loads.status();
  ASSERT_EQ(loads->size(), 3U);
  EXPECT_EQ((*loads)[0].job, "a,b");
  EXPECT_EQ((*loads)[1].job, "say \"x\"");
  EXPECT_EQ((*loads)[2].job, "\xC3\xBC");
}

// A wrong time in the distant future must not cause later rows to be skipped.
TEST_F(LoadReader, ARowOfAFarTimeIsSetAside) {
  std::string text = "time,job,load\n";
  for (int i = 0; i < 10; ++i) {
    text += std::to_string(60 * i) + ",a," + std::to_string(i) + "\n";
    if (i == 4) text += "4070908800,a,9\n";
    if (i == 5) text += "60,b,1\n120,b,2\n";
  }
  text += "600000000000,a,3\n";
  const auto loads = Read(text);
  ASSERT_TRUE(loads.ok()) << loads.status();
  ASSERT_EQ(loads->size(), 2U);
  EXPECT_THAT((*loads)[0].load, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(report_.rows, 14);
  EXPECT_EQ(report_.rows_used, 12);
  EXPECT_THAT(report_.skipped.at("time after that of the rows after it").examples,
              ElementsAre(testing::EndsWith("web.csv:7: 4070908800,a,9")));
  EXPECT_THAT(report_.skipped.at("time far from those of the job's other rows").examples,
              ElementsAre(testing::EndsWith("web.csv:15: 600000000000,a,3")));
  EXPECT_EQ(report_.skipped.size(), 2U);
  EXPECT_THAT(std::string(Read(text, true).status().message()),
              testing::EndsWith("web.csv:8: time before that of the row before: 300,a,5"));
  // The text of the first row is not stored, so its example contains the parsed values.
  EXPECT_TRUE(Read("time,load\n4070908800,1\n0,1\n60,2\n120,3\n").ok());
  EXPECT_THAT(report_.skipped.at("time after that of the rows after it").examples,
              ElementsAre(testing::EndsWith("web.csv:2: 2099-01-01 00:00 UTC, load 1")));
}

// Returns a response of /api/v1/query_range with `series`.
std::string Answer(const std::string& series) {
  return R"({"status":"success","data":{"resultType":"matrix","result":[)" + series + "]}}\n";
}

TEST_F(LoadReader, ReadsTheAnswerOfAQueryRange) {
  const std::string two = Answer(
      R"({"metric":{"__name__":"rps","pod":"a"},"values":[[1628640000,"1.5"],[1628640060.0,"2"],[1628640180,"4"]]},)"
      R"({"values":[[1628640000,5],[1628640300,"6e0"]],"metric":{"pod":"b","app":"web"}})");
  auto loads = Read(two);
  ASSERT_TRUE(loads.ok()) << loads.status();
  ASSERT_EQ(loads->size(), 2);
  EXPECT_EQ((*loads)[0].job, "rps{pod=\"a\"}");
  EXPECT_EQ((*loads)[0].start_s, 1628640000);
  EXPECT_THAT((*loads)[0].load, ElementsAre(1.5F, 2, kAbsent, 4));
  EXPECT_EQ((*loads)[1].job, "{app=\"web\",pod=\"b\"}");
  EXPECT_EQ((*loads)[1].step_s, 300);
  EXPECT_EQ(report_.rows_used, 5);
  loads = Read("\n " + two, false, "pod");
  ASSERT_TRUE(loads.ok()) << loads.status();
  EXPECT_EQ((*loads)[0].job, "a");
  EXPECT_EQ((*loads)[1].job, "b");
  loads = Read(Answer(R"({"metric":{},"values":[[0,"1"],[60,"2"]]})"));
  ASSERT_TRUE(loads.ok()) << loads.status();
  EXPECT_EQ((*loads)[0].job, "web") << "of the file";
}

// A server returns at most 11,000 points per series, so a long range needs several files.
TEST_F(LoadReader, AnotherFileGoesOnWithAJob) {
  std::vector<std::string> paths;
  for (const char* values : {R"([0,"1"],[60,"2"])", R"([120,"3"],[180,"4"])"}) {
    paths.push_back(folder_ / (std::to_string(paths.size()) + ".json"));
    std::ofstream(paths.back()) << Answer(std::string(R"({"metric":{"pod":"a"},"values":[)") + values + "]}");
  }
  const auto loads = ReadLoads({paths, true, "pod"}, report_);
  ASSERT_TRUE(loads.ok()) << loads.status();
  ASSERT_EQ(loads->size(), 1);
  EXPECT_THAT((*loads)[0].load, ElementsAre(1, 2, 3, 4));
}

TEST_F(LoadReader, CountsValuesOfJsonThatAreNotUsedByCause) {
  const std::string text = Answer(
      "{\"metric\":{\"pod\":\"a\"},\"values\":[[0,\"1\"],\n[60,\"NaN\"],[60,\"-1\"],[60,\"x\"],[60],7,[60,"
      "\"2\"],\n"
      "[30,\"2\"],[1e300,\"2\"],[120,\"3\"],[180,{\"a\":[1]}],[240,\"+Inf\"]]},"
      "{\"metric\":{\"app\":\"b\"},\"values\":[[0,\"1\"]]},"
      "{\"metric\":{\"pod\":\"c\"},\"values\":[]},"
      "{\"metric\":{\"pod\":\"a\",\"app\":\"d\"},\"values\":[[0,\"1\"]]}");
  const auto loads = Read(text, false, "pod");
  ASSERT_TRUE(loads.ok()) << loads.status();
  ASSERT_EQ(loads->size(), 1);
  EXPECT_THAT((*loads)[0].load, ElementsAre(1, 2, 3));
  EXPECT_EQ(report_.rows, 14);
  EXPECT_EQ(report_.rows_used, 3);
  EXPECT_EQ(report_.skipped.at("load is negative or no number").count, 3);
  EXPECT_EQ(report_.skipped.at("not a pair of a time and a number").count, 4);
  EXPECT_THAT(report_.skipped.at("not a pair of a time and a number").examples.front(),
              testing::EndsWith("web.csv:2: series 1, value 4: [60,\"x\"]"));
  EXPECT_EQ(report_.skipped.at("bad time").count, 1);
  EXPECT_EQ(report_.skipped.at("time before that of the row before").count, 1);
  EXPECT_EQ(report_.skipped.at("no label \"pod\" for the job's name").count, 1);
  EXPECT_EQ(report_.skipped.at("another series of job \"a\": sum them in the query").count, 1);
  EXPECT_THAT(report_.warnings, ElementsAre(testing::EndsWith("web.csv: series 3 {pod=\"c\"}: no values")));
  EXPECT_THAT(std::string(Read(text, true, "pod").status().message()),
              testing::EndsWith("web.csv:2: load is negative or no number: series 1, value 2: [60,\"NaN\"]"));
}

TEST_F(LoadReader, SaysWhatIsWrongWithJson) {
  const auto error = [&](const std::string& text, bool strict = false) {
    return std::string(Read(text, strict).status().message());
  };
  using testing::HasSubstr;
  EXPECT_THAT(error(R"({"status":"error","errorType":"bad_data","error":"parse error: unexpected end"})"),
              HasSubstr("web.csv: the server reports: parse error"));
  EXPECT_THAT(error(R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{}}]}})"),
              HasSubstr("the answer is a vector; expected a matrix"));
  for (const char* other : {"{}", R"({"a":1})", R"({"data":[1]})", R"({"data":{"result":{"a":1}}})"})
    EXPECT_THAT(error(other), HasSubstr("not an answer of /api/v1/query_range")) << other;
  // The text ends within the second series. The first series is used; with strict, the result is an error.
  const std::string whole = Answer(
      "{\"metric\":{\"a\":\"b\"},\"values\":[[0,\"1\"],[60,\"2\"]]},\n"
      "{\"metric\":{\"a\":\"c\"},\"values\":[[0,\"1\"],[60,\"2\"]]}");
  const std::string cut = whole.substr(0, whole.size() - 20);
  EXPECT_THAT(error(cut, true), HasSubstr("invalid JSON"));
  const auto loads = Read(cut);
  ASSERT_TRUE(loads.ok()) << loads.status();
  EXPECT_EQ(loads->size(), 1);
  EXPECT_THAT(report_.warnings, ElementsAre(HasSubstr("web.csv: line 2: invalid JSON")));
  for (size_t size = 1; size < whole.size() - 1; ++size) EXPECT_FALSE(Read(whole.substr(0, size), true).ok());
  EXPECT_TRUE(Read(whole, true).ok());
}

}  // namespace
}  // namespace taut::tools
