#include "tools/report/overcommit_page.h"

#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/document_fixture.h"

namespace taut::tools {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Adds a predictor for machines with 100 GiB of limits and a peak of 40 GiB. The predictor predicts the share
// `of_limit` of the limits, except on the first `below` machines, where some predictions are below the peak.
void AddRow(OvercommitResult& result, std::string name, double of_limit, size_t below) {
  OvercommitResult::Row& row = result.rows.emplace_back();
  row.predictor = std::move(name);
  row.by_placement.resize(2);
  row.by_machine.resize(result.machines);
  for (size_t m = 0; m < result.machines; ++m) {
    for (size_t i = 0; i < 10; ++i) {
      const bool is_below = m < below && i <= m;
      for (OvercommitScore* s : {&row.total, &row.by_placement[2 * m / result.machines], &row.by_machine[m]})
        s->Add(100 * kGiB, is_below ? 30 * kGiB : of_limit * 100 * kGiB, 40 * kGiB);
    }
  }
}

OvercommitResult Made(size_t machines) {
  OvercommitResult result;
  result.resource = Resource::kMemory;
  result.tasks = machines;
  result.machines = machines;
  return result;
}

TEST(OvercommitPageTest, HasThePredictorsWithUnitsAndTheMachinesWithMostFirst) {
  OvercommitResult result = Made(8);
  AddRow(result, "limit", 1, 0);
  AddRow(result, "n-sigma:n=<3>", 0.5, 4);
  AddRow(result, "oracle", 0.4, 0);
  const OvercommitPage page{"<b>trace</b>", "every 2 h\nPARTIAL\n", {"memory: 8 tasks\n"}};
  const Json json = Parsed(OvercommitDocument(page, {&result, 1}));
  EXPECT_EQ(json["title"], "<b>trace</b>");
  EXPECT_EQ(json["notes"], Json({"every 2 h", "PARTIAL", "memory: 8 tasks"}));
  EXPECT_THAT(TitlesOf(json), ElementsAre("Memory", "Memory by machine"));
  // The answer does not name n-sigma, because its predictions are too often below the peak.
  EXPECT_EQ(AnswerText(json),
            "Memory: limit needs 1 of the owners' limits and is below the peak in 0 of its predictions.");
  const Json predictors = PartsOf(json, "Memory", "table").at(0);
  EXPECT_THAT(HeadsOf(predictors), Not(Contains("of capacity"))) << "made machines have none";
  EXPECT_EQ(predictors["columns"][5]["unit"], "GiB");
  // Of 80 predictions, 10 are 30 GiB, a quarter below the peak of 40 GiB, and 70 are 50 GiB.
  EXPECT_EQ(predictors["rows"][1], Json({"n-sigma:n=<3>", 0.475, 0.125, 0.25, 0.525, 47.5, "4 of 8", 80}));
  EXPECT_TRUE(predictors["rows"][0][3].is_null()) << "the severity of one that was never below";
  // A placement has four machines. n-sigma alone has predictions below the peak: 4 on machine 3, and 3 on machine
  // 2.
  const Json machines = PartsOf(json, "Memory by machine", "table").at(0);
  EXPECT_THAT(HeadsOf(machines), ElementsAre("machine", "predictions of each", "n-sigma:n=<3>"));
  EXPECT_EQ(machines["rows"][0], Json({"machine 3 of placement 0", 10, 0.4}));
  EXPECT_EQ(machines["rows"][1], Json({"machine 2 of placement 0", 10, 0.3}));
  const Json points = PartsOf(json, "Memory", "points").at(0)["points"];
  EXPECT_THAT(NamesOf(points), ElementsAre("limit", "n-sigma:n=<3>", "oracle"));
  EXPECT_EQ(points[1]["x"], 0.475);
  EXPECT_EQ(points[2]["x"], 0.4);
  EXPECT_EQ(points[2]["y"], 0);
}

TEST(OvercommitPageTest, TheAnswerNamesTheCheapestThatIsRarelyBelow) {
  OvercommitResult result = Made(200);
  AddRow(result, "limit", 1, 0);
  AddRow(result, "rare", 0.5, 4);  // 10 of 2,000 predictions are below the peak
  AddRow(result, "often", 0.45, 50);
  EXPECT_THAT(AnswerText(Parsed(OvercommitDocument({"t", ""}, {&result, 1}))),
              StartsWith("Memory: rare needs "));
}

TEST(OvercommitPageTest, OfManyMachinesTwenty) {
  OvercommitResult result = Made(60);
  AddRow(result, "rc-like", 0.5, 50);
  const Json json = Parsed(OvercommitDocument({"t", ""}, {&result, 1}));
  EXPECT_THAT(std::string(PartsOf(json, "Memory by machine", "text").at(0)["text"]),
              HasSubstr("The 20 machines of 50 with any"));
  EXPECT_EQ(PartsOf(json, "Memory by machine", "table").at(0)["rows"].size(), 20U);
  const Json oracle = PartsOf(json, "Memory", "points").at(0)["points"].back();
  EXPECT_EQ(oracle["name"], "oracle") << "from the scores, without its own row";
  EXPECT_EQ(oracle["x"], 0.4);
}

TEST(OvercommitPageTest, RecordedMachinesHaveTheirNamesAndCapacity) {
  OvercommitResult result = Made(2);
  AddRow(result, "machine-max", 0.5, 1);
  result.of_recorded = true;
  result.recorded.machines = {"<m0>", "m1"};
  result.recorded.capacity = 10;
  result.rows[0].total.capacity = 200;
  result.rows[0].total.predicted_of_capacity = 50;
  const Json json = Parsed(OvercommitDocument({"t", ""}, {&result, 1}));
  EXPECT_EQ(PartsOf(json, "Memory by machine", "table").at(0)["rows"][0], Json({"<m0>", 10, 0.1}));
  const Json predictors = PartsOf(json, "Memory", "table").at(0);
  EXPECT_EQ(HeadsOf(predictors).back(), "of capacity");
  EXPECT_EQ(predictors["rows"][0].back(), 0.25);
  EXPECT_THAT(std::string(PartsOf(json, "Memory", "text").back()["text"]), StartsWith("Of capacity: sum"));
}

TEST(OvercommitPageTest, NothingIsNotZero) {
  OvercommitResult result = Made(2);
  AddRow(result, "limit", 1, 0);
  EXPECT_EQ(
      PartsOf(Parsed(OvercommitDocument({"t", ""}, {&result, 1})), "Memory by machine", "text").at(0)["text"],
      "No prediction was below the oracle on any machine.");
  OvercommitResult partial = Made(2);
  OvercommitResult::Row& row = partial.rows.emplace_back();
  row.predictor = "limit";
  row.by_placement.resize(1);
  row.by_machine.resize(2);
  const Json json = Parsed(OvercommitDocument({"t", ""}, {&partial, 1}));
  EXPECT_EQ(PartsOf(json, "Memory", "table").at(0)["rows"][0],
            Json({"limit", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0}));
  EXPECT_EQ(AnswerText(json), "There are no predictions with a peak to compare.");
  EXPECT_TRUE(PartsOf(json, "Memory", "points").empty()) << "there is nothing to draw";
  EXPECT_EQ(Parsed(OvercommitDocument({"t", ""}, {}))["title"], "t");
}

}  // namespace
}  // namespace taut::tools
