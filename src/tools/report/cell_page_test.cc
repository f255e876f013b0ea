#include "tools/report/cell_page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/document_fixture.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CellPage, HasTablesChartsAndWhatIsPending) {
  brain::CellModel model;
  model.resources = brain::CpuAndMemory();
  model.machines.push_back({"m0", {4000, 1 << 30}, {}});
  brain::CellWorkload workload;
  for (uint32_t j = 0; j < 3; ++j) {
    brain::CellJob job;
    job.name = "j";
    job.tier = j == 0 ? brain::CellTier::kProduction : brain::CellTier::kBatch;
    job.limit = job.reservation = {3000, 1 << 20};
    model.jobs.push_back(job);
    workload.runs.push_back({3'600'000, brain::CellJobKind::kWork});
    workload.events.push_back({1000 * j, brain::CellEventKind::kSubmit, j, 0});
  }
  CellRunsOptions options;
  options.simulation.end_ms = 7'000'000;
  options.setups = {*CellSetupByName("no-reclamation")};
  auto runs = RunCells(model, workload, options);
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_FALSE(runs->front().totals.pending.empty());
  runs->front().totals.pending.front().job = "<evil>";
  const Json page = Parsed(CellDocument({"A \"cell\"", "1 machine\nand more", model.resources}, *runs));
  EXPECT_EQ(page["title"], "A \"cell\"");
  EXPECT_EQ(page["notes"], Json({"1 machine", "and more"}));
  EXPECT_THAT(AnswerText(page), StartsWith("Half of the production jobs run their first task within "));
  EXPECT_THAT(AnswerText(page), EndsWith(" pending at the end."));
  EXPECT_THAT(TitlesOf(page), ElementsAre("Side by side", "Tiers", "Evictions by cause", "Until a job runs",
                                          "How full the cell is", "Pending at the end"));
  EXPECT_EQ(PartsOf(page, "Tiers", "table").at(0)["rows"][0][0], "production");
  const Json pending = PartsOf(page, "Pending at the end", "table").at(0);
  EXPECT_EQ(pending["rows"][0][0], "<evil>");
  EXPECT_THAT(std::string(pending["rows"][0][2]), Not(IsEmpty()));
  const std::vector<Json> fill = PartsOf(page, "How full the cell is", "chart");
  ASSERT_EQ(fill.size(), 3U) << "CPU, memory and tasks";
  EXPECT_EQ(fill[1]["y"]["name"], "share of the memory");
  EXPECT_THAT(NamesOf(fill[2]["series"]), ElementsAre("running", "pending"));
  const Json runs_table = PartsOf(page, "Side by side", "table").at(0);
  EXPECT_EQ(runs_table["rows"].back()[0], "no-reclamation");
  EXPECT_EQ(PartsOf(page, "Until a job runs", "chart").at(0)["x"]["form"], "seconds");
}

}  // namespace
}  // namespace taut::tools
