#include "report/cell_page.h"

#include "cell/made_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CellPage, HasTablesChartsAndWhatIsPending) {
  MadeCellEventsOptions made;
  made.cell.machines = 40;
  made.cell.other_cpu = 1.5;
  made.days = 0.25;
  const MadeCellEvents cell = MakeCellEvents(made);
  CellRunsOptions options;
  options.simulation.end_ms = 21'600'000;
  options.setups = {*CellSetupByName("no-reclamation")};
  auto runs = RunCells(cell.model, cell.workload, options);
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_FALSE(runs->front().totals.pending.empty());
  runs->front().totals.pending.front().job = "<evil>";
  const std::string page = Render({"A \"cell\"", "40 machines\nand more", cell.model.resources}, *runs);
  for (const char* text : {"A &quot;cell&quot;", "<p class=muted>and more</p>", "<td>production</td>",
                           "&lt;evil&gt;, ", "<td>no-reclamation</td>", "share of the memory in service",
                           "seconds since the job was submitted", "Side by side"})
    EXPECT_THAT(page, HasSubstr(text));
  for (const char* text : {"<evil>", "<script", "http://", "https://", "nan", "inf"})
    EXPECT_THAT(page, Not(HasSubstr(text)));
}

}  // namespace
}  // namespace taut
