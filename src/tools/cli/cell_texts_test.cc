// Tests of the texts and the JSON of simulated cells and of recorded events, with example totals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "tools/cli/simulate_text.h"
#include "tools/cli/terminal.h"
#include "tools/cli/trace_events_text.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

brain::CellModel CellOfCpu() {
  brain::CellModel cell;
  cell.resources = {{.name = "cpu", .unit = "cores", .per_unit = 1000}};
  return cell;
}

CellRun RunOf(const CellSetup* setup) {
  CellRun run;
  run.setup = setup;
  brain::CellTotals& totals = run.totals;
  totals.events = 1234;
  totals.passes = 5678;
  totals.machine_failures = 1;
  totals.machine_drains = 2;
  totals.limit_changes = 1;
  totals.mean.capacity[0] = 10'000;
  totals.mean.production_limit[0] = 6'000;
  totals.mean.other_limit[0] = 6'000;
  totals.mean.production_reserved[0] = 3'000;
  totals.mean.other_reserved[0] = 4'500;
  totals.mean.running = 12.25;
  brain::CellTierTotals& batch = totals.tiers[1];
  batch.jobs = 4;
  batch.tasks = 2000;
  batch.pending = 3;
  batch.measured_jobs = 4;
  batch.first_s = {5, 400, 7200};
  batch.all_s = {10};
  batch.task_hours = 168 * 10;
  batch.lost_task_hours = 168;
  batch.evictions[0] = 5;
  batch.evictions[1] = 5;
  batch.again_s = {60, 120};
  return run;
}

std::vector<CellRun> RunsOf(size_t n) {
  std::vector<CellRun> runs;
  for (size_t i = 0; i < n; ++i) runs.push_back(RunOf(&CellSetups()[i]));
  return runs;
}

TEST(SimulateText, SaysSharesOfTheCapacityInService) {
  std::vector<CellRun> runs = RunsOf(1);
  const std::string text = SimulateText(CellOfCpu(), runs);
  EXPECT_THAT(text,
              testing::StartsWith(
                  "1,234 events in 5,678 scheduling passes; 1 machine failed, 2 drained; 1 limit changed\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "  cpu: limits 120.0 % of the capacity in service (production 60.0 %), reservations 75.0 %\n"));
  EXPECT_THAT(text, HasSubstr("12.2 tasks run, 0.0 wait, 0.00 machines are out of service"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("pending at the end")), Not(HasSubstr("reserved\n"))));
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 105U) << line;
}

TEST(SimulateText, DelaysHaveUnitsAndMayNeverEnd) {
  std::vector<CellRun> runs = RunsOf(1);
  const std::string text = SimulateText(CellOfCpu(), runs);
  // One of four jobs never started: the median is the second delay, and the 90th percentile is "never".
  EXPECT_THAT(text,
              ContainsRegex("batch +4 +2,000 +6.67 min +never +never +never +never +1.000 +10.0 % +3\n"));
  // Two of the ten evicted tasks ran again.
  EXPECT_THAT(text, ContainsRegex("batch +0.500 +0.500 .* 1.000 +10 +never +never\n"));
  runs[0].totals.tiers[1].measured_jobs = 0;
  runs[0].totals.tiers[1].first_s.clear();
  runs[0].totals.tiers[1].all_s.clear();
  EXPECT_THAT(SimulateText(CellOfCpu(), runs), ContainsRegex("batch +4 +2,000 +- +- +- +- +- "));
}

TEST(SimulateText, PendingJobsHaveTheirReasonsEscaped) {
  std::vector<CellRun> runs = RunsOf(1);
  runs[0].totals.pending_jobs = 1;
  runs[0].totals.pending = {
      {.job = "evil\x1b[2J", .tasks = 1, .why = "No machine has 64 cores. The largest has 32."}};
  EXPECT_THAT(
      SimulateText(CellOfCpu(), runs),
      HasSubstr(
          "pending at the end: tasks of 1 job\n  evil\\x1b[2J, 1 task: No machine has 64 cores.\n    The largest has 32.\n"));
  runs[0].totals.pending_jobs = 2000;
  EXPECT_THAT(SimulateText(CellOfCpu(), runs), HasSubstr("tasks of 2,000 jobs, the first of which are\n"));
}

TEST(SimulateText, ARunBesideTheBaseIsCompared) {
  std::vector<CellRun> runs = RunsOf(2);
  runs[1].totals.mean.capacity[0] = 0;
  const std::string text = SimulateText(CellOfCpu(), runs);
  EXPECT_THAT(text, ContainsRegex("base +120.0 % +75.0 % +- +0.000 +6.67 min +never +1.000 +10.0 % +3\n"));
  EXPECT_THAT(text, ContainsRegex(StrCat(CellSetups()[1].name, " +0.0 % +0.0 % ")));
}

TEST(SimulateText, JsonHasUnitsAndNullForDelaysWithoutEnd) {
  std::vector<CellRun> runs = RunsOf(2);
  runs[1].totals.partial = true;
  runs[0].totals.hours = {runs[0].totals.mean};
  const Json json = SimulateJson(CellOfCpu(), runs);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["setup"], "base");
  EXPECT_EQ(json[1]["partial"], true);
  EXPECT_EQ(json[0]["mean"]["cpu"]["capacity"], 10.0) << "cores, and no millicores";
  EXPECT_EQ(json[0]["hours"].size(), 1U);
  const Json& tier = json[0]["tiers"][0];
  EXPECT_EQ(tier["tier"], "batch");
  EXPECT_EQ(tier["first_task_s"]["of"], 4);
  EXPECT_EQ(tier["first_task_s"]["count"], 3);
  EXPECT_EQ(tier["first_task_s"]["p50"], 400.0);
  EXPECT_TRUE(tier["first_task_s"]["p99"].is_null());
  EXPECT_EQ(tier["again_s"]["of"], 10);
  EXPECT_EQ(json[0]["tiers"].size(), 1U) << "tiers with jobs";
}

LoadedCell CellOfEvents() {
  LoadedCell cell;
  cell.has_events = true;
  brain::TierEvents& tier = cell.events.tiers[static_cast<size_t>(Tier::kProduction)];
  tier.jobs = 3;
  tier.tasks = 4000;
  tier.starts = 5000;
  tier.ends = {1, 2, 3, 4, 5};
  tier.cpu_hours = 12345.6;
  tier.gib_hours = 0.5;
  tier.delays_s = {2, 4};
  tier.never_started = 2;
  cell.events.first_us = 3600'000'000;
  cell.events.last_us = 4 * int64_t{3600'000'000};
  cell.events.hours[1] = {.jobs = 10, .new_tasks = 4, .tasks_again = 2};
  cell.events.hours[3] = {.jobs = 2, .new_tasks = 0, .tasks_again = 7};
  cell.events.scaling_jobs = {2, 0, 0, 1};
  cell.events.scaling_cpu_hours = {1, 0, 0, 1500};
  return cell;
}

TEST(TraceEventsText, HasTiersDelaysAndEnds) {
  const std::string text = TraceEventsText(CellOfEvents());
  EXPECT_THAT(text, testing::StartsWith("3 jobs have events.\n\n"));
  // Two of four jobs never started, so only the median is known.
  EXPECT_THAT(text, ContainsRegex("production +3 +4,000 +5,000 +4 s +- +- +1 +2 +3 +4 +5 +12,346 +0.5\n"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("free ")), Not(HasSubstr("machines  cores"))));
  EXPECT_THAT(text, ContainsRegex("full +1 +1,500\n"));
}

TEST(TraceEventsText, ComparesRatesOfWholeHours) {
  const std::string text = TraceEventsText(CellOfEvents());
  // Three hours with 10, 0 and 2 jobs. Only one hour has new tasks; in this hour, half as many tasks are
  // resubmitted.
  EXPECT_THAT(text, ContainsRegex("jobs submitted an hour, mean +4 "));
  EXPECT_THAT(text, ContainsRegex("jobs submitted an hour, median +2 .*3,309\n"));
  EXPECT_THAT(text, ContainsRegex("tasks submitted again, for each new one, median of hours +0.5 .*2.26\n"));
  EXPECT_THAT(text, ContainsRegex("machine shapes +- "));
  EXPECT_THAT(text, ContainsRegex("alloc sets, of all collections +- .*2.0 %\n"))
      << "the trace has no alloc sets";
}

TEST(TraceEventsText, WithoutEventsNothingIsZero) {
  const std::string text = TraceEventsText(LoadedCell());
  EXPECT_THAT(text, testing::StartsWith("0 jobs have events.\n\n"));
  EXPECT_THAT(text, ContainsRegex("jobs submitted an hour, mean +- "));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("delay:")), Not(HasSubstr("vertical scaling"))));
  LoadedCell wrong = CellOfEvents();
  wrong.events.last_us = int64_t{2'000'000} * 3'600'000'000;
  EXPECT_THAT(TraceEventsText(wrong), ContainsRegex("jobs submitted an hour, mean +- "))
      << "a time beyond a century";
}

TEST(TraceEventsText, ListsTheFirstShapes) {
  LoadedCell cell = CellOfEvents();
  for (int i = 0; i < 15; ++i)
    cell.shapes.push_back({.cpu_cores = 16.0 + i, .memory_bytes = 64 * kGiB, .machines = 1000});
  cell.machines_without_capacity = 2;
  cell.findings = {{.cause = "no submission", .count = 1200, .first = "a\x1b"}};
  const std::string text = TraceEventsText(cell);
  EXPECT_THAT(text, testing::StartsWith("  1,200 x no submission, the first: a\\x1b\n"));
  EXPECT_THAT(
      text, AllOf(ContainsRegex("1,000 +16 +64\n"), HasSubstr("and 3 other shapes\n"),
                  ContainsRegex("machine shapes +15 "),
                  HasSubstr("2 machines have no capacity in the trace\n"), Not(ContainsRegex("1,000 +28 "))));
}

TEST(TraceEventsText, JsonAndReportHaveTheSameFigures) {
  LoadedCell cell = CellOfEvents();
  cell.shapes = {{.cpu_cores = 16, .memory_bytes = 64 * kGiB, .machines = 7}};
  const Json json = TraceEventsJson(cell);
  EXPECT_EQ(json["jobs"], 3);
  EXPECT_EQ(json["tiers"].size(), 1U);
  EXPECT_EQ(json["tiers"]["production"]["delay_s"],
            Json::parse(R"({"of": 2, "p50": 4.0, "p90": null, "p99": null})"));
  EXPECT_EQ(json["compared"]["jobs_an_hour_mean"]["value"], 4.0);
  EXPECT_TRUE(json["compared"]["alloc_cpu"]["value"].is_null());
  EXPECT_EQ(json["shapes"][0]["memory_bytes"], 64 * kGiB);
  EXPECT_EQ(json["hours"][1], Json::parse(R"({"time": 10800, "jobs": 2, "new_tasks": 0, "tasks_again": 7})"));
  EXPECT_EQ(json["vertical_scaling"]["full"]["core_hours"], 1500.0);
  const EventsReport report = TraceEventsReport(cell);
  EXPECT_EQ(report.figures, &cell.events);
  ASSERT_EQ(report.shapes.size(), 1U);
  EXPECT_EQ(report.shapes[0].machines, 7U);
}

}  // namespace
}  // namespace taut::tools
