#include "tools/report/document.h"

#include <algorithm>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/document_fixture.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Document SmallDocument() {
  Document out{"taut test", "A <title>"};
  out.answer = {"It is ", Figure{0.125, ShareForm(1)}, "."};
  out.AddNotes("one;\n\ntwo\n");
  DocumentSection& section = out.sections.emplace_back(DocumentSection{"Figures"});
  section.Add("A sentence.");
  section.Add(DocumentTable{{{"name"}, {"delay", SecondsForm()}, {"CPU", NumberForm("cores")}},
                            {{"a", 2.5, FigureValue()}, {"b", "never", 1e6 / 3}}});
  return out;
}

TEST(DocumentTest, IsTheJsonThatTheHeaderDescribes) {
  EXPECT_EQ(DocumentJson(SmallDocument()),
            R"({"kind":"document","command":"taut test","title":"A \u003ctitle>","unix":false,)"
            R"("answer":["It is ",{"form":"share","decimals":1,"value":0.125},"."],"notes":["one","two"],)"
            R"("sections":[{"title":"Figures","parts":[{"is":"text","text":"A sentence."},)"
            R"({"is":"table","columns":[{"head":"name","form":"text"},{"head":"delay","form":"seconds"},)"
            R"({"head":"CPU","form":"number","unit":"cores"}],)"
            R"("rows":[["a",2.5,null],["b","never",333333.333333]]}]}]})");
}

TEST(DocumentTest, NamesCannotEndTheirBlockOrHideControlCharacters) {
  Document document = SmallDocument();
  document.title = "</script>\x1b[31m";
  const std::string json = DocumentJson(document);
  EXPECT_THAT(json, Not(HasSubstr("</script")));
  EXPECT_THAT(json, HasSubstr(R"(\u003c/script>\\x1b[31m)"));
}

TEST(DocumentTest, WhatIsNotANumberIsNotKnown) {
  Document document = SmallDocument();
  document.answer = {Figure{std::numeric_limits<double>::quiet_NaN(), CountForm()}};
  EXPECT_TRUE(Parsed(document)["answer"][0]["value"].is_null());
}

TEST(DocumentTest, LinesShareTheirTimesAndEmptyOnesAreLeftOut) {
  DocumentChart chart{"c", {"time", {FigureForm::kTime}}, {"load", NumberForm()}};
  ChartSeries a{"a"}, b{"b", ChartLine::kDashed}, none{"none"}, other{"other", ChartLine::kStacked};
  for (int i = 0; i < 3; ++i) a.Add(1.7e9 + i, i), b.Add(1.7e9 + i, 2 * i);
  other.Add(1.7e9 + 1, 7);
  chart.series = {a, none, b, other};
  DocumentSection section{"s"};
  section.Add(chart);
  section.Add(DocumentChart{"empty", {}, {}, {none}});
  const Json parts = Parsed({.command = "", .title = "", .sections = {section}})["sections"][0]["parts"];
  ASSERT_EQ(parts.size(), 1U);
  const Json& lines = parts[0]["series"];
  EXPECT_THAT(NamesOf(lines), ElementsAre("a", "b", "other"));
  EXPECT_EQ(lines[0]["x"], Json({1'700'000'000, 1'700'000'001, 1'700'000'002}));
  EXPECT_FALSE(lines[1].contains("x"));
  EXPECT_EQ(lines[1]["line"], "dashed");
  EXPECT_EQ(lines[1]["y"], Json({0, 2, 4}));
  EXPECT_EQ(lines[2]["x"], Json({1'700'000'001}));
}

TEST(DocumentTest, OfALongLineSomePointsAreDrawnAndNoneWithoutAPlace) {
  DocumentChart chart{"c", {"x", NumberForm(), true}, {"y", NumberForm(), true}};
  ChartSeries& line = chart.series.emplace_back(ChartSeries{"long"});
  for (int i = 0; i < 5000; ++i) line.Add(i, 1);
  EXPECT_FALSE(chart.empty());
  DocumentSection section{"s"};
  section.Add(chart);
  const Json x = Parsed(
      {.command = "", .title = "", .sections = {section}})["sections"][0]["parts"][0]["series"][0]["x"];
  EXPECT_LE(x.size(), 1000U);
  EXPECT_GT(x[0], 0);
  // A spike of one point must be drawn.
  line.y[3333] = 9;
  section.parts.clear();
  section.Add(chart);
  const Json y = Parsed(
      {.command = "", .title = "", .sections = {section}})["sections"][0]["parts"][0]["series"][0]["y"];
  EXPECT_EQ(std::count(y.begin(), y.end(), 9), 1);
  for (double& y : line.y) y = 0;
  EXPECT_TRUE(chart.empty());
  section.parts.clear();
  section.Add(chart);
  EXPECT_THAT(section.parts, IsEmpty());
}

}  // namespace
}  // namespace taut::tools
