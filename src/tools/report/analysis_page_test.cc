#include "tools/report/analysis_page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/svg_chart.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  std::vector<double> values;
  for (int i = 1; i <= 2000; ++i) values.push_back(1e6 / i / i);
  a.sizes[0] = DistributionOf(values);
  std::sort(values.begin(), values.end());
  a.tails[0] = TailOf(values, 50);
  a.arrivals.Add(2);
  return a;
}

TEST(AnalysisPageTest, HasWhatWasMeasuredAndWhatIsPublished) {
  const TraceAnalysis usage = Small();
  const std::string page = AnalysisPage("<b>trace</b>", &usage, nullptr);
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;trace"));
  EXPECT_THAT(page, Not(HasSubstr("<b>trace")));
  EXPECT_THAT(page, HasSubstr("23312")) << "the published C^2";
  EXPECT_THAT(page, HasSubstr("alpha 0.5")) << "1/i^2 has the index 1/2";
  EXPECT_THAT(page, HasSubstr(">production</text>"));
  EXPECT_THAT(page, HasSubstr("owners&#39; limits"));
  EXPECT_THAT(page, HasSubstr("60.0 %"));
  EXPECT_THAT(page, HasSubstr(">day 1</text>"));
  EXPECT_THAT(page, Not(HasSubstr("Memory by tier"))) << "there is nothing to show";
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("http"))) << "nothing from elsewhere";
}

TEST(SvgChartTest, NothingAndOnePoint) {
  SvgChart chart("x", "y");
  EXPECT_EQ(chart.Render(), "");
  chart.AddLine({"one", "#000", SvgLine::kSolid, {{0, 0}}});
  EXPECT_THAT(chart.Render(), Not(HasSubstr("nan")));
  SvgChart logarithmic("x", "y");
  logarithmic.SetLogarithmic();
  logarithmic.AddLine({"none", "#000", SvgLine::kSolid, {{0, 1}, {-1, 2}}});
  EXPECT_EQ(logarithmic.Render(), "");
}

// Points at one place: each label beside or above the one before, with a line to its point.
TEST(SvgChartTest, LabelsOfPointsDoNotCoverEachOther) {
  SvgChart chart("x", "y");
  chart.SetFromZero();
  for (const char* const label : {"<a>", "b", "c", "d"}) chart.AddMark({label, "#222", {50, 0}});
  chart.AddMark({"far", "#222", {100, 2}});
  const std::string svg = chart.Render();
  EXPECT_THAT(svg, HasSubstr("<title>&lt;a&gt;: 50, 0</title>"));
  // Half of the way from 0 at 70 to 100 at 845.
  EXPECT_THAT(svg, HasSubstr("cx=457.5 cy=292.0"));
  EXPECT_THAT(svg, HasSubstr("<text x=466.5 y=296.0 text-anchor=start>&lt;a&gt;<"));
  EXPECT_THAT(svg, HasSubstr("<text x=448.5 y=296.0 text-anchor=end>b<"));
  EXPECT_THAT(svg, HasSubstr("<text x=466.5 y=282.0 text-anchor=start>c<"));
  EXPECT_THAT(svg, HasSubstr("<text x=448.5 y=282.0 text-anchor=end>d<"));
  EXPECT_THAT(svg, HasSubstr("text-anchor=end>far<")) << "right of it the chart ends";
}

TEST(SvgChartTest, APointThatIsNotPositiveHasNoPlaceOnALogarithmicAxis) {
  SvgChart chart("x", "y");
  chart.SetLogarithmic();
  chart.AddMark({"none", "#222", {0, 1}});
  EXPECT_EQ(chart.Render(), "");
  chart.AddMark({"one", "#222", {10, 1}});
  EXPECT_THAT(chart.Render(), HasSubstr(">one<"));
  EXPECT_THAT(chart.Render(), Not(HasSubstr(">none<")));
}

// An attribute without quotes would take the slash that closes its element.
TEST(SvgChartTest, ElementsAreClosed) {
  SvgChart chart("x", "y");
  chart.AddLine({"line", "#000", SvgLine::kDashed, {{0, 1}, {1, 2}}});
  chart.AddBand({"band", "#111", SvgLine::kSolid, {{0, 1}, {1, 2}}});
  chart.AddMark({"mark", "#222", {0.5, 1}});
  chart.AddMark({"another", "#222", {0.5, 1}});
  const std::string svg = chart.Render();
  for (size_t at = svg.find("/>"); at != std::string::npos; at = svg.find("/>", at + 1)) {
    EXPECT_EQ(svg[at - 1], '"') << svg.substr(at - 20, 22);
  }
}

}  // namespace
}  // namespace taut::tools
