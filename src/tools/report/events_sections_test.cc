#include "tools/report/events_sections.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/analysis_page.h"
#include "tools/report/document_fixture.h"

namespace taut::tools {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

brain::EventFigures Events() {
  brain::EventFigures f;
  brain::TierEvents& batch = f.tiers[static_cast<size_t>(Tier::kBatch)];
  batch.jobs = 4;
  batch.tasks = 9;
  batch.starts = 8;
  batch.delays_s = {10, 1, 100};
  batch.never_started = 1;
  f.hours[2] = {.jobs = 3, .new_tasks = 7, .tasks_again = 0};
  f.hours[5] = {.jobs = 1, .new_tasks = 2, .tasks_again = 5};
  return f;
}

TEST(EventsSectionsTest, HasDelaysByTierSubmissionsAndWhatIsPublished) {
  const brain::EventFigures figures = Events();
  const EventsReport report{.figures = &figures,
                            .compared = {{"alloc sets <all>", "alloc", 0.25, std::nullopt, 0.2, true},
                                         {"jobs an hour", "jobs", 1.5, 885, std::nullopt, false}},
                            .shapes = {{7, 64, 0x1p38}}};
  const Json page = Parsed(AnalysisDocument("events", nullptr, &report));
  EXPECT_EQ(page["notes"], Json({"4 jobs have events."}));
  EXPECT_EQ(AnswerText(page), "Half of the batch jobs start within 10; more than 1 % never start.");
  EXPECT_THAT(TitlesOf(page),
              ElementsAre("Scheduling delay by tier", "Submissions",
                          "Events beside what is published of Google's cells", "Machine shapes"))
      << "the trace has no usage";
  const Json delays = PartsOf(page, "Scheduling delay by tier", "table").at(0);
  ASSERT_EQ(delays["rows"].size(), 1U) << "a tier without jobs is left out";
  EXPECT_EQ(delays["rows"][0][0], "batch");
  EXPECT_EQ(delays["rows"][0][4], 10);
  EXPECT_EQ(delays["rows"][0][5], "never") << "one in four never started";
  const Json chart = PartsOf(page, "Scheduling delay by tier", "chart").at(0);
  EXPECT_THAT(NamesOf(chart["series"]), ElementsAre("batch"));
  EXPECT_EQ(PartsOf(page, "Submissions", "chart").at(1)["y"]["unit"], "tasks an hour");
  const std::vector<Json> published =
      PartsOf(page, "Events beside what is published of Google's cells", "table");
  ASSERT_EQ(published.size(), 2U);
  EXPECT_EQ(published[0]["rows"], Json::parse(R"([["jobs an hour", 1.5, 885, null]])"));
  EXPECT_EQ(published[1]["rows"], Json::parse(R"([["alloc sets <all>", 0.25, null, 0.2]])"));
  EXPECT_EQ(published[1]["columns"][1]["form"], "share");
  EXPECT_EQ(PartsOf(page, "Machine shapes", "table").at(0)["rows"], Json::parse("[[7, 64, 256]]"));
}

TEST(EventsSectionsTest, AWrongTimeDrawsNoEndlessChart) {
  brain::EventFigures figures = Events();
  figures.hours[int64_t{1} << 40] = {.jobs = 1};
  const EventsReport report{.figures = &figures, .compared = {}, .shapes = {}};
  const auto page = [&] { return Parsed(AnalysisDocument("events", nullptr, &report)); };
  EXPECT_THAT(TitlesOf(page()), Not(Contains("Submissions")));
  figures = Events();
  figures.tiers[static_cast<size_t>(Tier::kBatch)].delays_s = {0, 0, 0};
  EXPECT_TRUE(PartsOf(page(), "Scheduling delay by tier", "chart").empty()) << "no curve";
  figures = brain::EventFigures();
  EXPECT_EQ(page()["notes"], Json({"0 jobs have events."}));
  EXPECT_EQ(AnswerText(page()), "0 have events.");
}

}  // namespace
}  // namespace taut::tools
