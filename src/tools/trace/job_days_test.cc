// Tests of JobDayStore: the result does not depend on the order of rows, or on the use of the temporary file.
#include "tools/trace/job_days.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"
#include "tools/trace/job_days_pack.h"

namespace taut {

static bool operator==(const TaskWindow& a, const TaskWindow& b) {
  return a.task == b.task && a.cpu_mean_cores == b.cpu_mean_cores && a.cpu_peak_cores == b.cpu_peak_cores &&
         a.memory_mean_bytes == b.memory_mean_bytes && a.memory_peak_bytes == b.memory_peak_bytes;
}
static bool operator==(const BucketWeight& a, const BucketWeight& b) {
  return a.bucket == b.bucket && a.weight == b.weight;
}
static bool operator==(const JobWindow& a, const JobWindow& b) {
  return a.window == b.window && a.first_task == b.first_task && a.num_tasks == b.num_tasks &&
         a.first_bucket == b.first_bucket && a.num_buckets == b.num_buckets &&
         a.cpu_limit_cores == b.cpu_limit_cores && a.memory_limit_bytes == b.memory_limit_bytes;
}
static bool operator==(const TaskKills& a, const TaskKills& b) {
  return a.window == b.window && a.task == b.task && a.kills == b.kills &&
         a.killed_at_bytes == b.killed_at_bytes;
}
static bool operator==(const JobDay& a, const JobDay& b) {
  return a.job == b.job && a.day == b.day && a.windows == b.windows && a.tasks == b.tasks &&
         a.cpu_buckets == b.cpu_buckets && a.kills == b.kills && a.kills_told == b.kills_told;
}

}  // namespace taut

namespace taut::tools {
namespace {

using ::testing::ElementsAre;

struct TestRow {
  uint32_t job = 0, task = 0;
  int64_t start_s = 0, seconds = 300;
  std::optional<float> cpu_mean{}, cpu_max{}, memory_mean{}, memory_peak{}, cpu_limit{}, memory_limit{};
  std::vector<float> percentiles{};
  std::optional<uint32_t> oom_kills{};
};

constexpr float kFractions[] = {0.0F, 0.5F, 1.0F};

void Put(JobDayStore& store, const TestRow& r) {
  UsageRow row;
  row.job = JobId{r.job};
  row.task = r.task;
  row.start = Timestamp::FromSeconds(r.start_s);
  row.end = Timestamp::FromSeconds(r.start_s + r.seconds);
  row.cpu_mean_cores = r.cpu_mean;
  row.cpu_max_cores = r.cpu_max;
  row.memory_mean_bytes = r.memory_mean;
  row.memory_peak_bytes = r.memory_peak;
  row.cpu_limit_cores = r.cpu_limit;
  row.memory_limit_bytes = r.memory_limit;
  row.oom_kills = r.oom_kills;
  row.cpu_percentiles_cores = r.percentiles;
  if (!r.percentiles.empty()) row.cpu_fractions = kFractions;
  store.OnUsage(row);
}

std::unique_ptr<JobDayStore> MakeStore(uint32_t jobs, size_t budget = size_t{1} << 30) {
  auto store = std::make_unique<JobDayStore>(JobDayStore::Options{.memory_budget_bytes = budget});
  for (uint32_t j = 0; j < jobs; ++j) {
    JobInfo info;
    info.name = "job" + std::to_string(j);
    store->OnJob(JobId{j}, info);
  }
  return store;
}

std::vector<JobDay> AllDays(JobDayStore& store) {
  EXPECT_TRUE(store.Finish().ok());
  std::vector<JobDay> all;
  for (const int32_t day : store.days()) {
    absl::StatusOr<std::vector<JobDay>> jobs = store.LoadDay(day);
    EXPECT_TRUE(jobs.ok()) << jobs.status();
    all.insert(all.end(), jobs->begin(), jobs->end());
  }
  return all;
}

std::vector<JobDay> Fold(uint32_t jobs, const std::vector<TestRow>& rows, FoldReport* report = nullptr) {
  const std::unique_ptr<JobDayStore> store = MakeStore(jobs);
  for (const TestRow& row : rows) Put(*store, row);
  std::vector<JobDay> all = AllDays(*store);
  if (report != nullptr) *report = store->report();
  return all;
}

TEST(JobDayStore, KillsAreSummedAndHaveTheLimitThatKilled) {
  const std::vector<TestRow> rows = {
      // A task with a limit of its own and two rows in the window, one of them duplicated.
      {.task = 1, .seconds = 60, .memory_mean = 5.0F, .memory_limit = 10.0F, .oom_kills = 1},
      {.task = 1, .start_s = 60, .seconds = 60, .memory_mean = 5.0F, .oom_kills = 2},
      {.task = 1, .start_s = 60, .seconds = 60, .memory_mean = 5.0F, .oom_kills = 3},
      // A task without kills, and a task with an unknown number of kills.
      {.task = 0, .memory_mean = 5.0F, .memory_limit = 20.0F, .oom_kills = 0},
      {.task = 2, .memory_mean = 5.0F},
      {.task = 3, .memory_mean = 5.0F, .oom_kills = 1},  // killed at the limit of the job
      {.job = 1, .task = 0, .start_s = 300, .memory_mean = 5.0F, .memory_peak = 7.0F, .oom_kills = 1},
      {.job = 1, .task = 1, .start_s = 300, .cpu_mean = 1.0F, .oom_kills = 1}};
  const auto days = Fold(2, rows);
  ASSERT_EQ(days.size(), 2U);
  EXPECT_THAT(days[0].kills,
              ElementsAre(TaskKills{WindowId{0}, 1, 4, 10.0F}, TaskKills{WindowId{0}, 3, 1, 20.0F}));
  EXPECT_EQ(days[0].kills_told, 3U);
  // The task was killed at its highest usage
  EXPECT_THAT(days[1].kills,
              ElementsAre(TaskKills{WindowId{1}, 0, 1, 7.0F}, TaskKills{WindowId{1}, 1, 1, kAbsent}));
  EXPECT_EQ(Fold(2, {rows.rbegin(), rows.rend()}), days) << "in any order";
  // Repeat the test with the rows in the temporary file.
  const auto spilt = MakeStore(2, 1);
  for (const TestRow& row : rows) Put(*spilt, row);
  EXPECT_EQ(AllDays(*spilt), days);
}

TEST(JobDayStore, GroupsRowsByDayJobWindowAndTask) {
  const auto days = Fold(2, {{.job = 1, .task = 1, .start_s = 86'400, .cpu_mean = 4.0F},
                             {.job = 0, .start_s = 86'399, .seconds = 60, .cpu_mean = 3.0F},
                             {.job = 1, .task = 0, .start_s = 86'400, .cpu_mean = 2.0F},
                             {.job = 1, .task = 0, .start_s = 86'700, .memory_mean = 5.0F}});
  ASSERT_EQ(days.size(), 2U);
  EXPECT_EQ(days[0].job, JobId{0});
  EXPECT_EQ(days[0].day, 0);
  ASSERT_EQ(days[0].windows.size(), 1U);
  // A row belongs to the window of its start, even if it ends on the next day.
  EXPECT_EQ(days[0].windows[0].window.index, 287);
  EXPECT_EQ(days[1].job, JobId{1});
  EXPECT_EQ(days[1].day, 1);
  ASSERT_EQ(days[1].windows.size(), 2U);
  EXPECT_EQ(days[1].windows[0].window.index, 288);
  EXPECT_EQ(days[1].windows[0].num_tasks, 2U);
  EXPECT_THAT(days[1].tasks,
              ElementsAre(TaskWindow{0, 2, 2, kAbsent, kAbsent}, TaskWindow{1, 4, 4, kAbsent, kAbsent},
                          TaskWindow{0, kAbsent, kAbsent, 5, 5}));
  EXPECT_EQ(days[1].windows[1].num_buckets, 0U);
}

TEST(JobDayStore, RowsThatShareAWindowAreWeighedByTheirSeconds) {
  FoldReport report;
  const auto days =
      Fold(1,
           {{.start_s = 0, .seconds = 100, .cpu_mean = 1.0F, .cpu_max = 9.0F, .memory_mean = 10.0F},
            {.start_s = 100, .seconds = 200, .cpu_mean = 4.0F, .memory_mean = 40.0F, .memory_peak = 70.0F}},
           &report);
  ASSERT_EQ(days.size(), 1U);
  EXPECT_THAT(days[0].tasks, ElementsAre(TaskWindow{0, 3, 9, 30, 70}));
  const Grid& grid = Grid::Cpu();
  EXPECT_THAT(days[0].cpu_buckets,
              ElementsAre(BucketWeight{grid.BucketOf(1.0), 100}, BucketWeight{grid.BucketOf(4.0), 200}));
  EXPECT_EQ(report.shared_windows, 1U);
  EXPECT_EQ(report.duplicates, 0U);
  EXPECT_EQ(report.job_windows, 1U);
}

TEST(JobDayStore, TheSameTaskAndStartTwiceIsMergedByMax) {
  FoldReport report;
  const auto days = Fold(1,
                         {{.start_s = 0, .cpu_mean = 1.0F, .memory_mean = 10.0F},
                          {.start_s = 0, .cpu_mean = 0.5F, .cpu_max = 2.0F, .memory_mean = 20.0F}},
                         &report);
  EXPECT_THAT(days[0].tasks, ElementsAre(TaskWindow{0, 1, 2, 20, 20}));
  EXPECT_THAT(days[0].cpu_buckets, ElementsAre(BucketWeight{Grid::Cpu().BucketOf(1.0), 300}));
  EXPECT_EQ(report.duplicates, 1U);
  EXPECT_EQ(report.shared_windows, 0U);
}

TEST(JobDayStore, CountsRowsBehindALaterOneOfTheSameTask) {
  FoldReport report;
  Fold(1,
       {{.task = 0, .start_s = 600, .cpu_mean = 1.0F},
        {.task = 1, .start_s = 300, .cpu_mean = 1.0F},  // not late, because it belongs to another task
        {.task = 0, .start_s = 0, .cpu_mean = 1.0F},
        {.task = 0, .start_s = 300, .cpu_mean = 1.0F},
        {.task = 0, .start_s = 900, .cpu_mean = 1.0F}},
       &report);
  EXPECT_EQ(report.rows, 5U);
  EXPECT_EQ(report.late_rows, 2U);
}

TEST(JobDayStore, PercentilesSpreadTheSecondsAndGiveMeanAndPeak) {
  const auto days = Fold(1, {{.start_s = 0, .percentiles = {1.0F, 2.0F, 2.0F}}});
  ASSERT_EQ(days[0].tasks.size(), 1U);
  EXPECT_FLOAT_EQ(days[0].tasks[0].cpu_mean_cores, 1.75F);
  EXPECT_FLOAT_EQ(days[0].tasks[0].cpu_peak_cores, 2.0F);
  // Expect half of the time evenly in (1, 2], and half at 2.
  const Bucket at_two = Grid::Cpu().BucketOf(2.0);
  double total = 0, at_or_below_1_5 = 0;
  for (const BucketWeight& b : days[0].cpu_buckets) {
    total += b.weight;
    if (Grid::Cpu().UpperBound(b.bucket) <= 1.5) at_or_below_1_5 += b.weight;
    if (b.bucket == at_two) {
      EXPECT_NEAR(b.weight, 150 + 150 * (2 - Grid::Cpu().LowerBound(at_two)), 0.02);
    }
  }
  EXPECT_NEAR(total, 300, 1e-3);
  EXPECT_NEAR(at_or_below_1_5, 75, 150 * 0.07);
}

TEST(JobDayStore, LimitIsTheLargestOfTheWindowElseTheLastKnown) {
  const std::unique_ptr<JobDayStore> store = MakeStore(1);
  store->OnLimit(JobId{0}, Timestamp::FromSeconds(250), 1.0F, std::nullopt);   // takes effect in window 1
  store->OnLimit(JobId{0}, Timestamp::FromSeconds(1500), 7.0F, std::nullopt);  // takes effect in window 5
  // An earlier change, whose CPU limit the change at 250 s overrides.
  store->OnLimit(JobId{0}, Timestamp::FromSeconds(200), 9.0F, 64.0F);
  for (const int64_t w : {0, 1, 4, 5, 6, 300}) Put(*store, {.start_s = w * 300, .cpu_mean = 1.0F});
  Put(*store, {.task = 1, .start_s = 600, .cpu_limit = 2.0F});
  Put(*store, {.task = 2, .start_s = 600, .cpu_limit = 3.0F});
  Put(*store, {.task = 1, .start_s = 7 * 300, .cpu_limit = 5.0F});
  const auto days = AllDays(*store);
  ASSERT_EQ(days.size(), 2U);
  std::vector<std::pair<int32_t, float>> cpu, memory;
  for (const JobDay& day : days) {
    for (const JobWindow& w : day.windows) {
      cpu.emplace_back(w.window.index, w.cpu_limit_cores);
      memory.emplace_back(w.window.index, w.memory_limit_bytes);
    }
  }
  using P = std::pair<int32_t, float>;
  EXPECT_THAT(cpu,
              ElementsAre(P{0, kAbsent}, P{1, 1}, P{2, 3}, P{4, 3}, P{5, 7}, P{6, 7}, P{7, 5}, P{300, 5}));
  EXPECT_THAT(memory, ElementsAre(P{0, kAbsent}, P{1, 64}, P{2, 64}, P{4, 64}, P{5, 64}, P{6, 64}, P{7, 64},
                                  P{300, 64}));
}

TEST(JobDayStore, AddsUpTheTasksOwnLimitsWhereTheyDiffer) {
  const std::unique_ptr<JobDayStore> store = MakeStore(1);
  store->OnLimit(JobId{0}, Timestamp{}, std::nullopt, 64.0F);
  // In window 0 the CPU limits are equal. In window 1 they differ, and task 2 has none, so the largest limit
  // applies to it.
  for (uint32_t task : {0U, 1U}) Put(*store, {.task = task, .cpu_mean = 1.0F, .cpu_limit = 3.0F});
  Put(*store, {.task = 0, .start_s = 300, .cpu_mean = 1.0F, .cpu_limit = 2.0F});
  Put(*store, {.task = 1, .start_s = 300, .cpu_mean = 1.0F, .memory_mean = 5.0F, .cpu_limit = 4.0F});
  Put(*store, {.task = 2, .start_s = 300, .cpu_mean = 1.0F});
  // CPU usage of task 3 was not measured.
  Put(*store, {.task = 3, .start_s = 300, .memory_mean = 5.0F, .cpu_limit = 1.0F});
  const auto days = AllDays(*store);
  ASSERT_EQ(days.size(), 1U);
  ASSERT_EQ(days[0].windows.size(), 2U);
  EXPECT_EQ(days[0].windows[0].cpu_limit_sum_cores, kAbsent);
  EXPECT_EQ(days[0].windows[1].cpu_limit_cores, 4);
  EXPECT_EQ(days[0].windows[1].cpu_limit_sum_cores, 2 + 4 + 4);
  EXPECT_EQ(days[0].windows[1].memory_limit_sum_bytes, kAbsent);
}

TEST(JobDayStore, SaysWhyItCannotSpill) {
  JobDayStore store(JobDayStore::Options{.memory_budget_bytes = 0, .spill_directory = "/nonexistent/place"});
  store.OnJob(JobId{0}, {});
  Put(store, {.start_s = 0, .cpu_mean = 1.0F});
  const absl::Status status = store.Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("/nonexistent/place"));
  EXPECT_FALSE(store.LoadDay(0).ok());
}

TEST(JobDayStore, AnEmptyStoreAndAnUnknownDayAreFine) {
  const std::unique_ptr<JobDayStore> store = MakeStore(0);
  ASSERT_TRUE(store->Finish().ok());
  EXPECT_TRUE(store->days().empty());
  EXPECT_TRUE(store->LoadDay(3)->empty());
}

std::optional<float> MaybeFloat(int odds) {
  if (*rc::gen::inRange(0, 4) >= odds) return std::nullopt;
  return static_cast<float>(*rc::gen::inRange(0, 4000)) / 64.0F;
}

std::vector<TestRow> AnyRows() {
  const int n = *rc::gen::inRange(0, 120);
  std::vector<TestRow> rows;
  for (int i = 0; i < n; ++i) {
    TestRow r;
    r.job = *rc::gen::inRange(0U, 4U);
    r.task = *rc::gen::inRange(0U, 3U);
    // Multiples of half a window over three days, also negative
    r.start_s = *rc::gen::inRange(-3, 900) * 150;
    r.seconds = *rc::gen::element(1, 100, 150, 300, 900);
    r.cpu_mean = MaybeFloat(3);
    r.cpu_max = MaybeFloat(2);
    r.memory_mean = MaybeFloat(3);
    r.memory_peak = MaybeFloat(2);
    r.cpu_limit = MaybeFloat(1);
    r.memory_limit = MaybeFloat(1);
    if (*rc::gen::inRange(0, 3) == 0) {
      r.percentiles = {*MaybeFloat(4), *MaybeFloat(4), *MaybeFloat(4)};
      std::sort(r.percentiles.begin(), r.percentiles.end());
    }
    rows.push_back(r);
  }
  return rows;
}

struct LimitEvent {
  uint32_t job;
  int64_t t_s;
  float cpu;
};

std::vector<LimitEvent> AnyLimits() {
  std::vector<LimitEvent> events;
  const int n = *rc::gen::inRange(0, 12);
  for (int i = 0; i < n; ++i) {
    events.push_back({*rc::gen::inRange(0U, 4U), *rc::gen::inRange(-1000, 140'000), *MaybeFloat(4)});
  }
  return events;
}

std::vector<JobDay> FoldAll(const std::vector<TestRow>& rows, const std::vector<LimitEvent>& limits,
                            size_t budget) {
  const std::unique_ptr<JobDayStore> store = MakeStore(4, budget);
  for (size_t i = 0; i < std::max(rows.size(), limits.size()); ++i) {
    if (i < rows.size()) Put(*store, rows[i]);
    if (i < limits.size()) {
      store->OnLimit(JobId{limits[i].job}, Timestamp::FromSeconds(limits[i].t_s), limits[i].cpu,
                     std::nullopt);
    }
  }
  return AllDays(*store);
}

RC_GTEST_PROP(JobDayStoreProperty, NeitherTheOrderOfRowsNorSpillingMatters, ()) {
  std::vector<TestRow> rows = AnyRows();
  std::vector<LimitEvent> limits = AnyLimits();
  const std::vector<JobDay> expected = FoldAll(rows, limits, size_t{1} << 30);
  RC_ASSERT(expected == FoldAll(rows, limits, 0));  // every row is a run of its own
  const int shuffles = 3;
  for (int s = 0; s < shuffles; ++s) {
    for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[*rc::gen::inRange<size_t>(0, i)]);
    for (size_t i = limits.size(); i > 1; --i)
      std::swap(limits[i - 1], limits[*rc::gen::inRange<size_t>(0, i)]);
    RC_ASSERT(expected == FoldAll(rows, limits, s == 1 ? 200'000 : size_t{1} << 30));
  }
}

RC_GTEST_PROP(JobDayStoreProperty, LimitsAreWhatASlowReadingOfTheRuleGives, ()) {
  const std::vector<TestRow> rows = AnyRows();
  const std::vector<LimitEvent> limits = AnyLimits();
  for (const JobDay& day : FoldAll(rows, limits, size_t{1} << 30)) {
    for (const JobWindow& w : day.windows) {
      // Candidates are (first window, true for a limit in a row, time, limit). The greatest candidate at or before
      // the window is in force.
      std::tuple<int64_t, bool, int64_t, float> best{INT64_MIN, false, 0, kAbsent};
      for (const TestRow& r : rows) {
        const int64_t window = FloorDiv(r.start_s, 300);
        if (r.job != day.job.value || !r.cpu_limit || window > w.window.index) continue;
        best = std::max(best, {window, true, 0, *r.cpu_limit});
      }
      for (const LimitEvent& e : limits) {
        const int64_t window = FloorDiv(e.t_s + 299, 300);
        if (e.job != day.job.value || window > w.window.index) continue;
        best = std::max(best, {window, false, e.t_s, e.cpu});
      }
      RC_ASSERT(w.cpu_limit_cores == std::get<3>(best));
    }
  }
}

RC_GTEST_PROP(SpreadPercentilesProperty, SharesAddUpAndKeepEachQuantile, ()) {
  const size_t n = *rc::gen::inRange<size_t>(1, 21);
  std::vector<float> values, fractions;
  for (size_t i = 0; i < n; ++i) {
    values.push_back(static_cast<float>(std::exp(*rc::gen::inRange(-800, 700) / 100.0)));
    fractions.push_back(n == 1 ? 1.0F : static_cast<float>(i) / static_cast<float>(n - 1));
  }
  std::sort(values.begin(), values.end());
  std::vector<RowShare> shares;
  SpreadPercentiles(values, fractions, shares);
  double total = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    total += shares[i].fraction();
    if (i > 0) RC_ASSERT(shares[i - 1].bucket < shares[i].bucket);
  }
  RC_ASSERT(total == 1.0);
  for (size_t q = 0; q < n; ++q) {
    // Shares of the time in buckets below the quantile's bucket, and up to and including this bucket.
    double below = 0, at_or_below = 0;
    const Bucket bucket = Grid::Cpu().BucketOf(values[q]);
    for (const RowShare& s : shares) {
      below += s.bucket < bucket ? s.fraction() : 0;
      at_or_below += s.bucket <= bucket ? s.fraction() : 0;
    }
    RC_ASSERT(below <= fractions[q] + 1e-4);
    RC_ASSERT(at_or_below >= fractions[q] - 1e-4);
  }
}

TEST(SpreadPercentiles, SurvivesWhatIsNotAscendingOrNotANumber) {
  const float nan = std::nanf(""), inf = INFINITY;
  for (const std::vector<float>& values :
       {std::vector<float>{nan, 1, 2}, {1, nan, 2}, {2, 1, 0}, {-1, -1, inf}, {inf, inf, inf}, {0, 0, 0}}) {
    std::vector<RowShare> shares;
    SpreadPercentiles(values, kFractions, shares);
    double total = 0;
    for (const RowShare& s : shares) total += s.fraction();
    EXPECT_EQ(total, 1.0);
  }
}

}  // namespace
}  // namespace taut::tools
