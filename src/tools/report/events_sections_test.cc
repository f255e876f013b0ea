#include "tools/report/events_sections.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/analysis_page.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;
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
                            .compared = {{"alloc sets <all>", "alloc", 0.25, std::nullopt, 0.2, true}},
                            .shapes = {{7, 64, 0x1p38}}};
  const std::string page = AnalysisPage("events", nullptr, &report);
  EXPECT_THAT(page, HasSubstr("4 jobs have events"));
  EXPECT_THAT(page, HasSubstr(">batch</text>")) << "the name of a line";
  EXPECT_THAT(page, HasSubstr("<td>10 s</td><td>never</td><td>never</td>")) << "one in four never started";
  EXPECT_THAT(page, Not(HasSubstr(">production</td>"))) << "a tier without jobs";
  EXPECT_THAT(page, HasSubstr("alloc sets &lt;all&gt;</td><td>25.0 %</td><td class=published>-</td>"));
  EXPECT_THAT(page, HasSubstr("<td>7</td><td>64</td><td>256</td>"));
  EXPECT_THAT(page, HasSubstr("tasks submitted an hour"));
  EXPECT_THAT(page, Not(HasSubstr("How unequal jobs are"))) << "the trace has no usage";
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("http"))) << "nothing from elsewhere";
}

TEST(EventsSectionsTest, AWrongTimeDrawsNoEndlessChart) {
  brain::EventFigures figures = Events();
  figures.hours[int64_t{1} << 40] = {.jobs = 1};
  const EventsReport report{.figures = &figures, .compared = {}, .shapes = {}};
  EXPECT_THAT(EventsSections(report), Not(HasSubstr("Submissions")));
  figures = Events();
  figures.tiers[static_cast<size_t>(Tier::kBatch)].delays_s = {0, 0, 0};
  EXPECT_THAT(EventsSections(report), Not(HasSubstr("share of the jobs"))) << "no curve";
  const brain::EventFigures none;
  EXPECT_THAT(EventsSections({.figures = &none, .compared = {}, .shapes = {}}),
              HasSubstr("0 jobs have events"));
}

}  // namespace
}  // namespace taut::tools
