// Tests of the tables and the JSON of a replay's result, on lanes whose sums are known.
#include "tools/cli/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "tools/cli/json_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kTwoDaysS = 2 * 86'400.0;

// Returns a lane of two scored days with a mean limit of 4, usage of 1 and an owner's limit of 8 (cores or bytes).
LaneResult LaneOf(brain::Policy policy, Resource resource) {
  LaneResult lane;
  lane.policy = policy;
  lane.resource = resource;
  Totals& t = lane.summary.totals;
  t.job_days = 20;
  t.slack_sum = 10;
  t.limit_seconds = t.limit_seconds_owned = 4 * kTwoDaysS;
  t.owner_limit_seconds = 8 * kTwoDaysS;
  t.usage_seconds = 1 * kTwoDaysS;
  t.usage_over_seconds = 0.05 * kTwoDaysS;
  t.windows = 1000;
  t.windows_over = 10;
  t.ooms = 6;
  t.oom_days = 4;
  t.serious_oom_days = 1;
  t.negative_slack_days = 5;
  t.changes = 30;
  t.days_without_change = 15;
  t.ooms_per_task_day_sum = 2.5;
  lane.summary.changes_histogram = {15, 0, 0, 5};
  for (const uint64_t oom_days : {0, 1, 3, 0}) {
    Totals& job = lane.per_job.emplace_back();
    job.job_days = 8;
    job.oom_days = oom_days;
  }
  lane.per_job.emplace_back();  // a job without scored days
  lane.fleet = {{.day = 9}, {.day = 10}, {.day = 11}};
  return lane;
}

ReplayResult ResultOf(std::vector<LaneResult> lanes) {
  ReplayResult result;
  if (!lanes.empty()) result.jobs = lanes.front().per_job.size();
  result.lanes = std::move(lanes);
  result.first_day = 9;
  result.first_scored_day = 10;
  result.last_day = 11;
  return result;
}

std::vector<JobInfo> JobsOf(const LaneResult& lane) {
  std::vector<JobInfo> jobs(lane.per_job.size());
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].name = StrCat("job", i);
  jobs[1].name = "caf\xe9";
  return jobs;
}

TEST(Results, RecordedKillsSayWhatIsUnknown) {
  EXPECT_EQ(RecordedText({}), "");
  EXPECT_EQ(RecordedText({.told_windows = 10, .task_windows = 10}), "recorded OOM kills: 0\n");
  EXPECT_EQ(
      RecordedText(
          {.kills = 1200, .killed_windows = 1000, .job_days = 4, .told_windows = 10, .task_windows = 10}),
      "recorded OOM kills: 1,200 in 1,000 task-windows on 4 job-days\n");
  EXPECT_EQ(RecordedText({.told_windows = 75, .task_windows = 100}),
            "recorded OOM kills: 0; unknown in 25.0 % of the task-windows\n");
}

TEST(Results, TheTableHasTheMeansOfTheScoredDays) {
  const std::string text = ResultTables(ResultOf({LaneOf(brain::Policy::kPeak, Resource::kCpu)}), false);
  EXPECT_THAT(text, testing::StartsWith("CPU\n"));
  EXPECT_THAT(text,
              testing::ContainsRegex(
                  "peak +50 % .* 4.00 cores +50.0 % +4.00 +20.0 % +0.1250 +5.00 % +1.50 +3 +75 % +5.00 %\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("throt"), Not(HasSubstr("OOM")), Not(HasSubstr("Memory"))))
      << "CPU is not killed";
}

TEST(Results, MemoryComesFirstWithItsRecordedKills) {
  ReplayResult result = ResultOf(
      {LaneOf(brain::Policy::kPeak, Resource::kCpu), LaneOf(brain::Policy::kPeak, Resource::kMemory)});
  result.recorded = {.kills = 3, .killed_windows = 2, .job_days = 1, .told_windows = 5, .task_windows = 5};
  const std::string text = ResultTables(result, false);
  EXPECT_LT(text.find("Memory\n"), text.find("recorded OOM kills: 3 in 2"));
  EXPECT_LT(text.find("recorded OOM kills: 3 in 2"), text.find("CPU\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("OOMs/"), HasSubstr("4.00 B")));
  EXPECT_EQ(ResultTables(ResultOf({}), true).find("recommender"), std::string::npos) << "no lane, no table";
}

TEST(Results, WithoutALimitThereAreNoFigures) {
  LaneResult lane;
  lane.policy = brain::Policy::kStatic;
  lane.resource = Resource::kMemory;
  EXPECT_THAT(ResultTables(ResultOf({lane}), false), testing::ContainsRegex("static +no limit\n"));
  LaneResult unowned = LaneOf(brain::Policy::kPeak, Resource::kMemory);
  unowned.summary.totals.owner_limit_seconds = 0;
  EXPECT_THAT(ResultTables(ResultOf({unowned}), false), testing::ContainsRegex("peak .* 4.00 B +- +4.00 "))
      << "no owner has a limit";
}

TEST(Results, DetailsSayWhichJobsHaveTheOomDays) {
  const std::string text = ResultTables(ResultOf({LaneOf(brain::Policy::kPeak, Resource::kMemory)}), true);
  // Two of four jobs have OOM-days, and one of these two jobs has only one OOM-day. The worst job has 3 OOM-days
  // in 8 days, which are 75 % of the 4 OOM-days of all jobs.
  EXPECT_THAT(text, testing::ContainsRegex("peak +4 +2 +50 % +3 +3 +38 % +75 % +3.00 B +25.0 %\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("Memory, by job\n"), Not(HasSubstr("CPU, by job")),
                          HasSubstr("slack < 0: the p95")));
  const std::string tables = text.substr(0, text.find("slack: (mean"));
  for (const std::string_view line : Split(tables, '\n')) EXPECT_LE(DisplayWidth(line), kTextColumns) << line;
  LaneResult calm = LaneOf(brain::Policy::kPeak, Resource::kMemory);
  for (Totals& job : calm.per_job) job.oom_days = 0;
  EXPECT_THAT(ResultTables(ResultOf({calm}), true), testing::ContainsRegex("peak +4 +0 +3.00 B +25.0 %\n"));
}

TEST(Results, JsonHasTheSameSums) {
  const LaneResult lane = LaneOf(brain::Policy::kPeak, Resource::kCpu);
  ReplayResult result = ResultOf({lane});
  result.partial = true;
  result.days_done = 2;
  result.days_total = 3;
  const Json json = Json::parse(ResultJson(result, JobsOf(lane), true));
  EXPECT_EQ(json["format"], "taut-replay/1");
  EXPECT_EQ(json["partial"], true);
  EXPECT_EQ(json["first_scored_day_start_s"], 10 * 86'400);
  EXPECT_EQ(json["jobs"], 5);
  EXPECT_TRUE(json["recorded"].is_null()) << "the trace counts no kills";
  const Json& of = json["lanes"][0];
  EXPECT_EQ(of["recommender"], "peak");
  EXPECT_EQ(of["footprint_mean_cores"], 4.0);
  EXPECT_EQ(of["footprint_of_owner"], 0.5);
  EXPECT_EQ(of["slack_absolute_cores"], 3.0);
  EXPECT_EQ(of["oom_day_share"], 0.2);
  EXPECT_EQ(of["changes_p99"], 3);
  EXPECT_EQ(of["jobs_with_oom_days"], 2);
  EXPECT_EQ(of["worst_job_oom_day_share"], 0.375);
  EXPECT_TRUE(of.contains("resource_efficiency") && of.contains("reliability_p05"));
  EXPECT_EQ(of["usage_over_share"], 0.05);
  ASSERT_EQ(of["by_job"].size(), 4U) << "jobs with scored days";
  EXPECT_EQ(of["by_job"][1]["job"], "caf\uFFFD");
  EXPECT_EQ(of["by_job"][2]["oom_days"], 3);
  const Json brief = Json::parse(ResultJson(result, JobsOf(lane), false));
  EXPECT_FALSE(brief["lanes"][0].contains("by_job"));
}

TEST(Results, JsonOfNoOwnersLimitsIsNull) {
  LaneResult lane = LaneOf(brain::Policy::kPeak, Resource::kMemory);
  lane.summary.totals.owner_limit_seconds = 0;
  ReplayResult result = ResultOf({lane});
  result.recorded = {.kills = 3, .told_windows = 5, .task_windows = 8};
  const Json json = Json::parse(ResultJson(result, JobsOf(lane), false));
  EXPECT_TRUE(json["lanes"][0]["footprint_of_owner"].is_null());
  EXPECT_EQ(json["lanes"][0]["footprint_mean_bytes"], 4.0);
  EXPECT_EQ(json["recorded"]["oom_kills"], 3);
  EXPECT_EQ(json["recorded"]["task_windows_told"], 5);
}

}  // namespace
}  // namespace taut::tools
