// Tests of the measures of docs/references.md, M1 to M8, on job-days that are built by hand.
#include "tools/sim/scorecard.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::tools {
namespace {

DayScore Day(uint32_t ooms, double tasks, uint32_t changes = 0, double slack = 0) {
  DayScore d;
  d.windows = 288;
  d.ooms = ooms;
  d.mean_tasks = tasks;
  d.changes = changes;
  d.slack = slack;
  return d;
}

// docs/references.md, M5, constants (4, 1/5) of Table 2: a day is serious if the number of OOMs is above 4 and
// above a fifth of the number of tasks.
TEST(Totals, SeriousDaysNeedMoreThanFourAndAFifth) {
  for (const auto& [ooms, tasks, serious] : {std::tuple{4U, 1.0, 0U},
                                             {5U, 1.0, 1U},
                                             {5U, 25.0, 0U},
                                             {6U, 25.0, 1U},
                                             {20U, 100.0, 0U},
                                             {21U, 100.0, 1U}}) {
    Totals t;
    t.Add(Day(ooms, tasks));
    EXPECT_EQ(t.serious_oom_days, serious) << ooms << " OOMs of " << tasks;
    EXPECT_EQ(t.oom_days, 1U);
  }
}

TEST(Totals, AreMeansOverJobDays) {
  Totals t;
  t.Add(Day(0, 10, 2, 0.5));
  t.Add(Day(5, 10, 0, 0.1));
  DayScore unlimited;
  unlimited.unlimited_windows = 12;
  t.Add(unlimited);
  EXPECT_EQ(t.job_days, 2U) << "a day without any limit is none";
  EXPECT_EQ(t.unlimited_windows, 12U);
  EXPECT_DOUBLE_EQ(t.mean_slack(), 0.3);
  EXPECT_DOUBLE_EQ(t.oom_day_share(), 0.5);
  EXPECT_DOUBLE_EQ(t.ooms_per_task_day(), 0.25);
  EXPECT_DOUBLE_EQ(t.changes_per_job_day(), 1);
  EXPECT_DOUBLE_EQ(t.share_without_change(), 0.5);
}

TEST(Totals, CountDaysOfNegativeSlack) {
  Totals t;
  for (const double slack : {-0.5, 0.0, 0.5, -3.0}) {
    DayScore day;
    day.windows = 1;
    day.slack = slack;
    t.Add(day);
  }
  EXPECT_EQ(t.negative_slack_days, 2U);
}

TEST(Totals, OfNothingAreZero) {
  const Totals t;
  EXPECT_EQ(t.mean_slack() + t.oom_day_share() + t.ooms_per_task_day() + t.footprint_of_owner() +
                t.footprint_of_usage() + t.usage_over_share() + t.windows_over_share(),
            0);
}

RC_GTEST_PROP(SlackDistribution, QuantilesAreThoseOfTheValues, ()) {
  auto values = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1500, 1000));
  RC_PRE(!values.empty());
  SlackDistribution d;
  for (int v : values) d.Add((v + 0.5) / 1000.0);  // middles of bins; values below -1 count as -1
  std::sort(values.begin(), values.end());
  for (double p : {0.01, 0.25, 0.5, 0.95, 1.0}) {
    const auto rank =
        static_cast<size_t>(std::max(std::ceil(p * static_cast<double>(values.size())) - 1, 0.0));
    RC_ASSERT(std::abs(d.Quantile(p) - std::max(values[rank] + 0.5, -999.5) / 1000) < 1e-9);
  }
  const int at = *rc::gen::inRange(-999, 1000);
  const auto below = std::count_if(values.begin(), values.end(), [&](int v) { return v < at; });
  RC_ASSERT(std::abs(d.ShareAtOrBelow(at / 1000.0) -
                     static_cast<double>(below) / static_cast<double>(values.size())) < 1e-9);
  RC_ASSERT(d.ShareAtOrBelow(1) == 1);
}

TEST(ScoresByJob, EfficiencyAndReliabilityAreMeansOverJobs) {
  const auto job = [](uint64_t windows_over, double usage) {
    Totals t;
    t.job_days = 1;
    t.windows = 288;
    t.windows_over = windows_over;
    t.limit_seconds = 4;
    t.usage_seconds = usage;
    return t;
  };
  ScoresByJob all, rest;
  EXPECT_EQ(all.reliability(), 1);
  EXPECT_EQ(all.efficiency(), 0);
  for (int i = 0; i < 15; ++i) all.Add(job(0, 1));
  all.Add(Totals());  // never scored
  for (const uint64_t over : {1, 1, 2, 72, 144}) rest.Add(job(over, 3));
  all.Merge(rest);
  EXPECT_EQ(all.jobs, 20U);
  EXPECT_NEAR(all.efficiency(), (15 * 0.25 + 5 * 0.75) / 20, 1e-9);
  EXPECT_NEAR(all.reliability(), 1 - (4 / 288.0 + 0.75) / 20, 1e-9);
  EXPECT_NEAR(all.ReliabilityQuantile(0.05), 0.5, 1e-9) << "the least reliable of 20";
  EXPECT_NEAR(all.ReliabilityQuantile(0.06), 0.75, 1e-9);
  EXPECT_NEAR(all.ReliabilityQuantile(0.25), 1 - 1 / 288.0, 1e-9);
  EXPECT_EQ(all.ReliabilityQuantile(0.3), 1);
}

TEST(LaneSummary, ChangesQuantileIsOverJobDays) {
  LaneSummary s;
  for (uint32_t changes : {0U, 0U, 0U, 7U}) s.Add(Day(0, 1, changes));
  EXPECT_EQ(s.ChangesQuantile(0.5), 0U);
  EXPECT_EQ(s.ChangesQuantile(0.75), 0U);
  EXPECT_EQ(s.ChangesQuantile(0.76), 7U);
}

}  // namespace
}  // namespace taut::tools
