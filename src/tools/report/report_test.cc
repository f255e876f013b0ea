// Tests of the whole report: its JSON, hostile names, and a page that needs no other file. If the page was not
// built, only the JSON is tested.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/report/html_report.h"
#include "tools/report/page.h"
#include "tools/report/report_fixture.h"
#include "tools/report/report_json.h"

namespace taut::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr FixtureSize kSmall{.jobs = 5, .days = 20, .stories = 3};
constexpr std::string_view kDataOpen = "<script id=\"data\" type=\"application/json\">";

// Returns the text that a browser passes to JSON.parse(): from the start of the data to the first end tag.
std::string DataBlock(const std::string& page) {
  const size_t from = page.find(kDataOpen);
  if (from == std::string::npos) return "";
  const size_t start = from + kDataOpen.size();
  return page.substr(start, page.find("</script", start) - start);
}

class ReportPageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const absl::Status s = CheckReportPage(); !s.ok()) GTEST_SKIP() << s.message();
  }
};

size_t Count(const std::string& text, std::string_view what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST_F(ReportPageTest, TheDataBlockIsTheJson) {
  const auto fixture = MakeReportFixture(kSmall);
  const std::string block = DataBlock(HtmlReport(fixture->input));
  EXPECT_EQ(block, ReportJson(fixture->input));
  const json data = json::parse(block);
  EXPECT_EQ(data["shown_first"], "combined");
  EXPECT_EQ(data["jobs"].size(), 5U);
  EXPECT_EQ(data["lanes"].size(), 12U);
  EXPECT_EQ(data["stories"].size(), 3U);
}

TEST(ReportTest, FiguresAreTheScorecards) {
  const auto fixture = MakeReportFixture(kSmall);
  const json data = json::parse(ReportJson(fixture->input));
  for (size_t i = 0; i < fixture->result.lanes.size(); ++i) {
    const LaneResult& lane = fixture->result.lanes[i];
    const json& sum = data["lanes"][i]["sum"];
    EXPECT_EQ(data["lanes"][i]["policy"], std::string(Name(lane.policy)));
    EXPECT_NEAR(sum["slack_mean"].get<double>(), lane.summary.totals.mean_slack(), 1e-4);
    EXPECT_NEAR(sum["of_owner"].get<double>(), lane.summary.totals.footprint_of_owner(), 1e-4);
    EXPECT_EQ(sum["oom_days"].get<uint64_t>(), lane.summary.totals.oom_days);
    EXPECT_EQ(sum["changes_p99"].get<uint32_t>(), lane.summary.ChangesQuantile(0.99));
    EXPECT_EQ(data["lanes"][i]["slack_quantiles"].size(), 101U);
  }
}

// Footprints of jobs and of the fleet are averages over the same number of seconds.
TEST(ReportTest, JobsAddUpToTheFleet) {
  const auto fixture = MakeReportFixture(kSmall);
  const json data = json::parse(ReportJson(fixture->input));
  for (size_t i = 0; i < data["lanes"].size(); ++i) {
    const json& lane = data["lanes"][i];
    for (const char* column : {"limit", "owner"}) {
      // Only the first lane of each resource contains the owners' limits.
      EXPECT_EQ(lane["jobs"].contains(column), std::string(column) == "limit" || i < 2);
      const json& jobs = (lane["jobs"].contains(column) ? lane : data["lanes"][i % 2])["jobs"];
      double sum = 0;
      for (const json& value : jobs[column]) sum += value.get<double>();
      EXPECT_NEAR(sum, lane["sum"][column].get<double>(), 2e-3 * sum) << lane["policy"] << " " << column;
    }
  }
}

TEST(ReportTest, MemoryIsInGibibytesAveragedOverTheScoredDays) {
  auto fixture = MakeReportFixture(kSmall);
  LaneResult& lane = fixture->result.lanes[1];
  ASSERT_EQ(lane.resource, Resource::kMemory);
  // 13 of 20 days are scored, 7 are warm-up
  lane.summary.totals.limit_seconds = 3.0 * 1024 * 1024 * 1024 * 13 * kDaySeconds;
  const json data = json::parse(ReportJson(fixture->input));
  EXPECT_DOUBLE_EQ(data["lanes"][1]["sum"]["limit"].get<double>(), 3.0);
}

TEST_F(ReportPageTest, HostileTextStaysText) {
  const std::string hostile = "</script><img src=x onerror=alert(1)><!--\"\\\n\x01\xff";
  auto fixture = MakeReportFixture(kSmall);
  const std::string plain = HtmlReport(fixture->input);
  fixture->jobs[0].name = hostile;
  fixture->input.title = fixture->input.command = hostile;
  fixture->input.notes = {hostile};
  JobStory& story = fixture->input.stories[0];
  story.job = story.why_chosen = hostile;
  Reason& reason = story.reasons[0];
  reason.recommender = reason.sentence = hostile;
  reason.facts[0] = {hostile, hostile, hostile};
  reason.candidates[0].name = reason.candidates[0].detail = reason.steps[0].what = hostile;
  const std::string page = HtmlReport(fixture->input);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_EQ(Count(page, "<script"), Count(plain, "<script"));
  EXPECT_EQ(Count(page, "</script"), Count(plain, "</script"));
  const std::string shown = "</script><img src=x onerror=alert(1)><!--\"\\\n\x01\xEF\xBF\xBD";
  const json data = json::parse(DataBlock(page));
  // The list of jobs and the stories contain the name with the same escapes.
  const std::string name = "</script><img src=x onerror=alert(1)><!--\"\\\\x0a\\x01\\xff";
  EXPECT_EQ(data["jobs"][0], name);
  EXPECT_EQ(data["stories"][0]["job"], name);
  EXPECT_EQ(data["stories"][0]["reasons"][0]["candidates"][0]["detail"], shown);
}

TEST(ReportTest, SameInputSameBytes) {
  EXPECT_EQ(HtmlReport(MakeReportFixture(kSmall)->input), HtmlReport(MakeReportFixture(kSmall)->input));
}

// Names of the SVG and MathML namespaces begin with this address, which a browser never requests.
constexpr const char* kNamespaceOfW3 = "//www.w3.org/";

TEST_F(ReportPageTest, ThePageLoadsNothing) {
  const std::string page = HtmlReport(MakeReportFixture(kSmall)->input);
  for (const char* loader : {"http:", "https:", "//cdn", "@import", "url(", " src=", "fetch(",
                             "XMLHttpRequest", "import(", "WebSocket", "sendBeacon", "eval("}) {
    EXPECT_EQ(Count(page, loader), Count(page, absl::StrCat(loader, kNamespaceOfW3))) << loader;
  }
  // Preact inserts text as markup only through __html, so no component may contain __html.
  EXPECT_THAT(page, Not(HasSubstr("__html:")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(ReportTest, WhatIsNoNumberIsNull) {
  auto fixture = MakeReportFixture(kSmall);
  Totals& totals = fixture->result.lanes[0].summary.totals;
  totals.slack_sum = std::nan("");
  totals.limit_seconds = std::numeric_limits<double>::infinity();
  const json data = json::parse(ReportJson(fixture->input));
  EXPECT_TRUE(data["lanes"][0]["sum"]["slack_mean"].is_null());
  EXPECT_TRUE(data["lanes"][0]["sum"]["limit"].is_null());
}

TEST_F(ReportPageTest, AnEmptyReplayIsStillAPage) {
  ReportFixture empty;
  empty.input.result = &empty.result;
  empty.input.jobs = &empty.jobs;
  const json data = json::parse(DataBlock(HtmlReport(empty.input)));
  EXPECT_TRUE(data["lanes"].empty());
  EXPECT_TRUE(data["policies"].empty());
}

}  // namespace
}  // namespace taut::tools
