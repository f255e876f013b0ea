#include "tools/cli/usage_csv.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/trace/job_days.h"
#include "tools/trace/output_file.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {
namespace {

constexpr WindowId kWindow{5'000'000};

// Returns a window of one job with `tasks`.
ClosedWindow WindowOf(const std::vector<TaskWindow>& tasks, float cpu_limit = kAbsent,
                      float memory_limit = kAbsent) {
  ClosedWindow closed;
  closed.window = kWindow;
  closed.tasks = tasks;
  JobWindow w;
  w.window = kWindow;
  w.num_tasks = static_cast<uint32_t>(tasks.size());
  w.cpu_limit_cores = cpu_limit;
  w.memory_limit_bytes = memory_limit;
  closed.jobs.push_back({JobId{3}, w});
  return closed;
}

std::string_view Web(JobId) { return "shop/web"; }

std::string Rows(UsageCsv& csv, const ClosedWindow& closed, std::string_view name = "shop/web") {
  std::string out;
  csv.Add(
      closed, [&](JobId) { return name; }, out);
  return out;
}

TEST(UsageCsv, HasWhatIsKnownAndNothingForWhatIsNot) {
  UsageCsv csv;
  const Bucket low = Grid::Cpu().BucketOf(0.5), high = Grid::Cpu().BucketOf(1.5);
  const std::vector<BucketWeight> cpu = {{low, 60}, {high, 30}};
  csv.TakeCpu(7, cpu);
  csv.TakeCpu(8, {});
  const std::string rows =
      Rows(csv, WindowOf({{7, 0.8F, 1.5F, kAbsent, kAbsent}, {8, kAbsent, kAbsent, 90, 100}}, 2));
  EXPECT_THAT(rows,
              testing::MatchesRegex("1500000000,90,shop/web,7,0.8,1.5,0[.][0-9]+:60 1[.][0-9]+:30,,2,,\n"
                                    "1500000000,300,shop/web,8,,,,100,2,,\n"));
}

TEST(UsageCsv, KillsAreInTheRowOfTheirTask) {
  UsageCsv csv;
  const Timestamp in = Timestamp::FromSeconds(kWindow.start_s() + 10);
  const std::vector<server::OomSighting> kills = {{JobId{3}, 7, in, 2, {}},
                                                  {JobId{3}, 9, in, 1, {}},
                                                  {JobId{3}, 7, Timestamp{in.us + 300'000'000}, 1, {}}};
  csv.TakeKills(kills);
  EXPECT_THAT(Rows(csv, WindowOf({{7, kAbsent, kAbsent, 5, 5}, {8, kAbsent, kAbsent, 5, 5}})),
              testing::HasSubstr(",5,,,2\n"));
  EXPECT_EQ(csv.kills(), 2U);
  EXPECT_EQ(csv.kills_without_row(), 2U) << "of a task without usage, and of a window that is not there yet";
  csv.KnowKills();
  EXPECT_THAT(Rows(csv, WindowOf({{8, kAbsent, kAbsent, 5, 5}})), testing::EndsWith(",5,,,0\n"));
}

TEST(UsageCsv, ANameMayHoldWhatSeparatesFields) {
  UsageCsv csv;
  EXPECT_THAT(Rows(csv, WindowOf({{7, kAbsent, kAbsent, 5, 5}}), "a,\"b\""),
              testing::HasSubstr(",\"a,\"\"b\"\"\",7,"));
}

TEST(UsageCsv, CountsJobsTasksAndLimits) {
  UsageCsv csv;
  std::string out;
  csv.Add(WindowOf({{7, 1, 1, 5, 5}, {8, 1, 1, 5, 5}}), Web, out);
  EXPECT_EQ(csv.rows(), 2U);
  EXPECT_EQ(csv.jobs(), 1U);
  EXPECT_EQ(csv.tasks(), 2U);
  EXPECT_EQ(csv.jobs_without_limit(), 1U);
  csv.Add(WindowOf({{7, 1, 1, 5, 5}}, 4), Web, out);
  EXPECT_EQ(csv.tasks(), 2U);
  EXPECT_EQ(csv.jobs_without_limit(), 0U);
}

// A trace of the written rows has the same windows: usage, limits, and the distribution of CPU usage.
TEST(UsageCsv, AReplayReadsTheSameWindows) {
  Rng rng(11);
  UsageCsv csv;
  std::string text(UsageCsv::kHeader);
  struct Wanted {
    ClosedWindow closed;
    std::map<Bucket, double> cpu;  // seconds by bucket, over all tasks
  };
  std::vector<Wanted> wanted;
  for (int w = 0; w < 50; ++w) {
    Wanted& now = wanted.emplace_back();
    std::vector<TaskWindow> tasks;
    for (uint32_t t = 0; t < 1 + rng.Below(4); ++t) {
      std::map<Bucket, float> spread;
      float left = rng.Below(5) == 0 ? 120 : 300;
      while (left > 0.5F) {
        const float part = std::min(left, static_cast<float>(rng.Uniform(1, 200)));
        spread[static_cast<Bucket>(rng.Below(static_cast<uint64_t>(Grid::Cpu().size())))] += part;
        left -= part;
      }
      std::vector<BucketWeight> cpu;
      for (const auto& [bucket, seconds] : spread) {
        cpu.push_back({bucket, seconds});
        now.cpu[bucket] += seconds;
      }
      csv.TakeCpu(t, cpu);
      const auto cores = static_cast<float>(rng.Uniform(0, 4));
      tasks.push_back({t, cores, cores * 2, 1e8F, static_cast<float>(rng.Uniform(1e8, 4e9))});
    }
    now.closed = WindowOf(tasks, 4, 5e9F);
    now.closed.window.index += w;
    now.closed.jobs[0].window.window = now.closed.window;
    csv.Add(now.closed, Web, text);
  }
  const TempDir dir;
  const std::string path = dir.path() + "/usage.csv.gz";
  auto file = OutputFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->Append(text);
  ASSERT_TRUE((*file)->Close().ok());
  TraceOptions options;
  options.paths = {path};
  JobDayStore store({});
  ReadReport report;
  ASSERT_TRUE(ReadTrace(options, store, report).ok());
  EXPECT_EQ(report.rows_used, csv.rows());
  ASSERT_TRUE(store.Finish().ok());
  ASSERT_EQ(store.jobs().size(), 1U);
  EXPECT_EQ(store.jobs()[0].name, "shop/web");
  size_t next = 0;
  for (const int32_t day : store.days()) {
    const auto jobs = store.LoadDay(day);
    ASSERT_TRUE(jobs.ok());
    for (const JobWindow& w : jobs->at(0).windows) {
      const Wanted& was = wanted.at(next++);
      ASSERT_EQ(w.window, was.closed.window);
      EXPECT_EQ(w.cpu_limit_cores, 4);
      EXPECT_EQ(w.memory_limit_bytes, 5e9F);
      ASSERT_EQ(w.num_tasks, was.closed.tasks.size());
      for (uint32_t t = 0; t < w.num_tasks; ++t) {
        const TaskWindow& task = jobs->at(0).tasks[w.first_task + t];
        EXPECT_EQ(task.cpu_mean_cores, was.closed.tasks[t].cpu_mean_cores);
        EXPECT_EQ(task.cpu_peak_cores, was.closed.tasks[t].cpu_peak_cores);
        EXPECT_EQ(task.memory_peak_bytes, was.closed.tasks[t].memory_peak_bytes);
      }
      std::map<Bucket, double> cpu;
      for (uint32_t b = 0; b < w.num_buckets; ++b) {
        const BucketWeight& bucket = jobs->at(0).cpu_buckets[w.first_bucket + b];
        cpu[bucket.bucket] += bucket.weight;
      }
      ASSERT_EQ(cpu.size(), was.cpu.size());
      for (const auto& [bucket, seconds] : was.cpu) EXPECT_NEAR(cpu[bucket], seconds, 0.05);
    }
  }
  EXPECT_EQ(next, wanted.size());
}

}  // namespace
}  // namespace taut::tools
