#include "tools/report/cell_page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  const std::string page = Render({"A \"cell\"", "1 machine\nand more", model.resources}, *runs);
  for (const char* text : {"A &quot;cell&quot;", "<p class=muted>and more</p>", "<td>production</td>",
                           "&lt;evil&gt;, ", "<td>no-reclamation</td>", "share of the memory in service",
                           "seconds since the job was submitted", "Side by side"})
    EXPECT_THAT(page, HasSubstr(text));
  for (const char* text : {"<evil>", "<script", "http://", "https://", "nan", "inf"})
    EXPECT_THAT(page, Not(HasSubstr(text)));
}

}  // namespace
}  // namespace taut::tools
