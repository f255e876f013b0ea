#include "brain/cell/cell_model.h"

#include "brain/cell/made_cell.h"
#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

CellModel TwoMachines() {
  CellModel cell;
  cell.resources = CpuAndMemory();
  cell.machines = {{"a", {4000, int64_t{8} << 30}, {}}, {"b", {8000, int64_t{8} << 30}, {}}};
  return cell;
}

CellJob Job(std::string name, int64_t millicores) {
  CellJob job;
  job.name = std::move(name);
  job.limit = job.reservation = {millicores, 1 << 20};
  return job;
}

TEST(CellModel, CountsWhatItLeavesOutAndWhatCannotRun) {
  CellModel cell = TwoMachines();
  cell.machines.push_back({"a", {1000, 1}, {}});
  cell.machines.push_back({"empty", {}, {}});
  cell.machines.push_back({"bare", {}, {}});
  cell.jobs = {Job("x", 1000), Job("x", 1), Job("large", 9000), Job("picky", 10)};
  cell.jobs[3].constraints = {{cell.names.Number("gpu"), {cell.names.Number("h100")}}};
  const auto findings = CheckCell(cell);
  ASSERT_TRUE(findings.ok()) << findings.status();
  std::string text;
  for (const CellFinding& f : *findings)
    text += f.cause + " " + std::to_string(f.count) + " " + f.first + "\n";
  EXPECT_EQ(text,
            "machine left out: the name is taken 1 a\n"
            "machine left out: no capacity 2 empty\n"
            "job left out: the name is taken 1 x\n"
            "job whose task is larger than any machine 1 large\n"
            "job that asks for an attribute that no machine has 1 picky\n");
  EXPECT_EQ(cell.machines.size(), 2U);
  EXPECT_EQ(cell.jobs.size(), 3U);
  EXPECT_EQ(cell.tasks(), 3U);
  EXPECT_EQ(cell.Capacity()[kCellCpu], 12000);
}

TEST(CellModel, RejectsWhatHasNoMeaning) {
  const auto error = [](auto&& change) {
    CellModel cell = TwoMachines();
    cell.jobs = {Job("x", 1000)};
    change(cell);
    return std::string(CheckCell(cell).status().message());
  };
  EXPECT_THAT(error([](CellModel& c) { c.resources.clear(); }), HasSubstr("number of resources 0"));
  EXPECT_THAT(error([](CellModel& c) { c.jobs[0].limit[0] = -1; }), HasSubstr("invalid amount -1"));
  EXPECT_THAT(error([](CellModel& c) { c.machines[0].capacity[2] = 1; }), HasSubstr("expected 0 to 0"));
  EXPECT_THAT(error([](CellModel& c) { c.jobs[0].reservation[0] = 1001; }), HasSubstr("at most the limit"));
  EXPECT_THAT(error([](CellModel& c) { c.jobs[0].tasks = 0; }), HasSubstr("number of tasks 0"));
  EXPECT_THAT(error([](CellModel& c) { c.jobs[0].spread_key = c.names.Number("rack"); }),
              HasSubstr("invalid spread"));
  EXPECT_THAT(error([](CellModel& c) { c.jobs[0].constraints = {{7, {8}}}; }), HasSubstr("constraint"));
}

TEST(CellModel, TextOfAmounts) {
  EXPECT_EQ(AmountText(CpuAndMemory()[kCellCpu], 1500), "1.5 cores of cpu");
  EXPECT_EQ(AmountText(CpuAndMemory()[kCellMemory], static_cast<int64_t>(1.5 * kGiB)), "1.5 GiB of memory");
}

TEST(MadeCell, HasTheSharesThatItPromises) {
  MadeCellOptions options;
  options.machines = 2000;
  CellModel cell = MakeCell(options);
  const auto findings = CheckCell(cell);
  ASSERT_TRUE(findings.ok()) << findings.status();
  EXPECT_TRUE(findings->empty()) << findings->front().cause;
  double production = 0, all = 0, small = 0, other = 0;
  for (const CellJob& job : cell.jobs) {
    const double cpu = static_cast<double>(job.limit[kCellCpu]) * job.tasks;
    all += cpu;
    if (IsProduction(job.tier)) production += cpu;
    if (IsProduction(job.tier)) continue;
    other += job.tasks;
    if (job.limit[kCellCpu] < 100) small += job.tasks;
  }
  EXPECT_NEAR(production / all, 0.7, 0.03);
  EXPECT_NEAR(small / other, 0.2, 0.1);
  EXPECT_NEAR(static_cast<double>(cell.tasks()), 24000, 8000);
  EXPECT_EQ(MakeCell(options).tasks(), cell.tasks());
}

}  // namespace
}  // namespace taut::brain
