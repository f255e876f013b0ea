#include "tools/report/analysis_page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/document_fixture.h"

namespace taut::tools {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TraceAnalysis Small() {
  TraceAnalysis a;
  a.jobs = 3;
  a.has_priorities = true;
  for (int h = 0; h < 30; ++h) {
    AnalysisHour& hour = a.hours.emplace_back();
    hour.start_s = h * 3600;
    hour.of[0][static_cast<size_t>(TraceTier::kProduction)] = {
        .usage = 2.0 + h, .limit = 40, .limited_usage = 2};
  }
  a.tiers[0][static_cast<size_t>(TraceTier::kProduction)] = {
      .jobs = 3, .usage = 16, .limit = 40, .limited_usage = 16};
  SortedValues sorted;
  for (int i = 2000; i > 0; --i) sorted.values.push_back(1e6 / i / i);
  a.sizes[0] = DistributionOf(sorted, 1.6e6, 1e9);
  a.tails[0] = TailOf(sorted, 50);
  a.arrivals = {.hours = 1, .mean = 2, .median = 2};
  return a;
}

TEST(AnalysisPageTest, HasWhatWasMeasuredAndWhatIsPublished) {
  const TraceAnalysis usage = Small();
  const Json page = Parsed(AnalysisDocument("<b>trace</b>", &usage, nullptr));
  EXPECT_EQ(page["title"], "<b>trace</b>");
  EXPECT_FALSE(page["unix"]) << "its clock begins at 0";
  EXPECT_THAT(AnswerText(page), HasSubstr("The largest 1 % of 3 use "));
  EXPECT_THAT(TitlesOf(page),
              ElementsAre("How unequal jobs are", "Beside what is published of Google's cells",
                          "What isolating the largest jobs would do", "CPU by tier",
                          "Usage and limits by tier", "Jobs that appear"))
      << "of memory there is nothing to show";
  const Json published = PartsOf(page, "Beside what is published of Google's cells", "table").at(0);
  EXPECT_EQ(published["rows"][2][3], 23312) << "the published C^2";
  const Json tail = PartsOf(page, "How unequal jobs are", "chart").at(0);
  EXPECT_THAT(NamesOf(tail["series"]), Contains(HasSubstr("CPU, Pareto with alpha 0.5")))
      << "1/i^2 has the index 1/2";
  EXPECT_TRUE(tail["x"]["log"]);
  const Json over_time = PartsOf(page, "CPU by tier", "chart").at(0);
  EXPECT_THAT(NamesOf(over_time["series"]), ElementsAre("production", "owners' limits"));
  EXPECT_EQ(over_time["y"]["unit"], "cores");
  EXPECT_EQ(over_time["series"][0]["x"][1], 3600);
  EXPECT_EQ(over_time["series"][0]["y"][1], 3);
  const Json tiers = PartsOf(page, "Usage and limits by tier", "table").at(0);
  EXPECT_EQ(tiers["rows"][0], Json({"production", 3, 16, 40, 0.6, 0, nullptr, nullptr}));
}

TEST(AnalysisPageTest, ATraceOfLessThanTwoDaysSaysSo) {
  TraceAnalysis usage = Small();
  usage.arrivals = {};
  const Json page = Parsed(AnalysisDocument("t", &usage, nullptr));
  EXPECT_EQ(PartsOf(page, "Jobs that appear", "text").at(0)["text"], "The trace has less than two days.");
  EXPECT_TRUE(PartsOf(page, "Jobs that appear", "chart").empty());
}

}  // namespace
}  // namespace taut::tools
