// Tests of the synthetic cell: equal seeds result in equal bytes, and jobs have the documented features.
#include "tools/trace/generate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/trace/job_days.h"

namespace taut::tools {
namespace {

std::vector<GeneratedJob> Jobs(const GenerateOptions& options) {
  std::vector<GeneratedJob> jobs;
  EXPECT_TRUE(GenerateJobs(options, [&jobs](const GeneratedJob& job) {
                jobs.push_back(job);
                return absl::OkStatus();
              }).ok());
  return jobs;
}

std::string Text(const GenerateOptions& options) {
  std::string out;
  for (const GeneratedJob& job : Jobs(options)) {
    for (const GeneratedJob::Row& row : job.rows) AppendGoogle2019Usage(job, row, TraceOptions(), false, out);
  }
  return out;
}

TEST(Generate, TheSeedDecidesAndMoreJobsDoNotChangeTheFirst) {
  const std::string text = Text({.jobs = 12, .days = 2, .seed = 7});
  EXPECT_EQ(text, Text({.jobs = 12, .days = 2, .seed = 7}));
  EXPECT_NE(text, Text({.jobs = 12, .days = 2, .seed = 8}));
  EXPECT_TRUE(Text({.jobs = 14, .days = 2, .seed = 7}).starts_with(text));
}

TEST(Generate, RowsLieInTheirWindowsAndThePeriod) {
  const GenerateOptions options{.jobs = 60, .days = 5, .start_s = 600};
  const std::vector<GeneratedJob> jobs = Jobs(options);
  ASSERT_EQ(jobs.size(), 60U);
  std::set<std::string> names;
  for (uint32_t j = 0; j < jobs.size(); ++j) {
    const GeneratedJob& job = jobs[j];
    EXPECT_EQ(job.id.value, j);
    names.insert(job.info.name);
    ASSERT_FALSE(job.limits.empty());
    EXPECT_LE(job.limits.front().from_s, job.rows.front().start_s);
    std::pair<int64_t, uint32_t> last{-1, 0};
    for (const GeneratedJob::Row& row : job.rows) {
      ASSERT_GE(row.start_s, 600);
      ASSERT_LE(row.end_s, 600 + 5 * kDaySeconds);
      ASSERT_LT(row.start_s, row.end_s);
      ASSERT_EQ(FloorDiv(row.start_s, 300), FloorDiv(row.end_s - 1, 300));
      ASSERT_LT(row.task, job.tasks);
      ASSERT_GT(row.cpu_mean, 0);
      ASSERT_GE(row.cpu_peak, row.cpu_mean);
      ASSERT_GE(row.memory_mean, 1 << 20);
      ASSERT_GT(row.memory_peak, row.memory_mean);
      const std::pair<int64_t, uint32_t> place{row.start_s, row.task};
      ASSERT_LT(last, place);
      last = place;
    }
  }
  EXPECT_EQ(names.size(), jobs.size());
}

double P95Slack(const GeneratedJob& job, float GeneratedJob::Row::*usage,
                float GeneratedJob::LimitChange::*limit) {
  std::vector<float> values;
  double limits = 0;
  for (const GeneratedJob::Row& row : job.rows) {
    values.push_back(row.*usage);
    size_t i = 0;
    while (i + 1 < job.limits.size() && job.limits[i + 1].from_s <= row.start_s) ++i;
    limits += job.limits[i].*limit;
  }
  std::sort(values.begin(), values.end());
  const double p95 =
      values[std::min(values.size() - 1, static_cast<size_t>(0.95 * static_cast<double>(values.size())))];
  return 1 - p95 * static_cast<double>(values.size()) / limits;
}

TEST(Generate, OwnersAskForTooMuchAndAFewForTooLittle) {
  int short_of_memory = 0, jobs = 0;
  for (const GeneratedJob& job : Jobs({.jobs = 150, .days = 7})) {
    ++jobs;
    const double cpu = P95Slack(job, &GeneratedJob::Row::cpu_mean, &GeneratedJob::LimitChange::cpu_cores);
    EXPECT_GE(cpu, 0.455) << job.info.name;
    EXPECT_LE(cpu, 0.605) << job.info.name;
    const double memory =
        P95Slack(job, &GeneratedJob::Row::memory_peak, &GeneratedJob::LimitChange::memory_bytes);
    if (memory < 0.4) {
      ++short_of_memory;
    } else {
      EXPECT_GE(memory, 0.455) << job.info.name;
      EXPECT_LE(memory, 0.605) << job.info.name;
    }
  }
  EXPECT_GE(short_of_memory, 1);
  EXPECT_LE(short_of_memory, jobs / 8);
}

TEST(Generate, HasYoungJobsRerunsSeasonsAndAHeavyTail) {
  const int64_t period = 14 * kDaySeconds;
  std::map<std::string, int> runs;
  std::vector<double> sizes;
  int young = 0, seasonal = 0;
  for (const GeneratedJob& job : Jobs({.jobs = 200, .days = 14})) {
    ++runs[job.info.logical_name];
    young += job.rows.front().start_s > kDaySeconds ? 1 : 0;
    double total = 0, day = 0, night = 0;
    for (const GeneratedJob::Row& row : job.rows) {
      const double seconds = static_cast<double>(row.end_s - row.start_s);
      total += row.cpu_mean * seconds;
      const int64_t hour = row.start_s % kDaySeconds / 3600;
      if (hour >= 12 && hour < 16) day += row.cpu_mean * seconds;
      if (hour < 4) night += row.cpu_mean * seconds;
    }
    sizes.push_back(total);
    if (job.rows.back().end_s - job.rows.front().start_s == period && day > 1.5 * night) ++seasonal;
  }
  EXPECT_GE(young, 30);
  EXPECT_GE(seasonal, 20);
  EXPECT_GE(std::max_element(runs.begin(), runs.end(), [](auto& a, auto& b) { return a.second < b.second; })
                ->second,
            5);
  std::sort(sizes.begin(), sizes.end());
  double all = 0, top = 0;  // sizes of all jobs, and of the largest 5 %
  for (size_t i = 0; i < sizes.size(); ++i) {
    all += sizes[i];
    if (i >= sizes.size() * 95 / 100) top += sizes[i];
  }
  EXPECT_GT(top, 0.5 * all);
}

TEST(Generate, PercentilesAgreeWithTheMean) {
  for (const double burst : {0.0, 0.1, 0.5}) {
    float p[20];
    GeneratedPercentiles(2.0, burst, p);
    EXPECT_TRUE(std::is_sorted(p, p + 20));
    double mean = 0;
    for (int i = 1; i < 20; ++i)
      mean += 0.5 * (p[i] + p[i - 1]) * (kGeneratedFractions[i] - kGeneratedFractions[i - 1]);
    EXPECT_NEAR(mean, 2.0, 0.05);
  }
}

TEST(Generate, RefusesWhatCannotBe) {
  EXPECT_EQ(Check({.jobs = 0}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Check({.days = 0}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Check({.start_s = 100}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(WriteGeneratedCsv({.jobs = 1, .days = 1}, "/nonexistent/cell.csv").ok());
  EXPECT_FALSE(WriteGeneratedGoogle2019({.jobs = 1, .days = 1}, {}, "/nonexistent/a/b").ok());
  // A full disk is detected by Close(), which returns the error.
  EXPECT_EQ(WriteGeneratedCsv({.jobs = 1, .days = 1}, "/dev/full").code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace taut::tools
