// Tests the conversion of samples to windows: every outcome, counters and gauges by hand, and sums over parts
// against a second-by-second reference. The result must not depend on the order of samples or on their
// distribution over requests.
#include "server/ingest/live_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <snappy.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "common/base/strings.h"
#include "common/histogram/grid.h"
#include "server/ingest/ingest.h"

namespace taut::server {
namespace {

using ::testing::FloatNear;
using ::testing::IsEmpty;

constexpr int64_t kBegin = 1'700'000'100;  // start of a window, seconds
static_assert(kBegin % kWindowSeconds == 0);

// One rule per kind. The labels j, t and p contain job, task and part.
std::vector<MappingRule> PlainRules() {
  std::vector<MappingRule> rules;
  for (int i = 0; i <= static_cast<int>(SeriesKind::kCpuThrottledPeriodsTotal); ++i) {
    const auto kind = static_cast<SeriesKind>(i);
    if (i >= static_cast<int>(SeriesKind::kOwner) && kind < SeriesKind::kCpuRequestCores) continue;
    rules.push_back({std::string(Name(kind)), std::string(Name(kind)), {}, kind, "{j}", "{t}", "{p}", 1});
  }
  rules.push_back({"less", "less", {}, SeriesKind::kMemoryBytes, "{j}", "{t}", "{p}", -1});
  return rules;
}

struct Point {
  std::string metric, job, task, part, extra;
  double second = 0;  // seconds after kBegin
  double value = 0;
};

// An Ingest that receives points, with the windows that it yielded.
class Cell {
 public:
  explicit Cell(const Ingest::Options& options = {}, std::vector<MappingRule> rules = PlainRules())
      : ingest_(*MappingRules::Compile(std::move(rules)), options) {}

  void Send(const std::vector<Point>& points, double now_s = 600) {
    std::vector<RemoteSeries> series;
    for (const Point& p : points) {
      series.push_back(
          {{{"__name__", p.metric}, {"extra", p.extra}, {"j", p.job}, {"p", p.part}, {"t", p.task}},
           {{p.value, kBegin * 1000 + std::llround(p.second * 1000)}}});
    }
    const absl::StatusOr<WriteResult> result = ingest_.Write(EncodeWriteRequest(series), At(now_s));
    ASSERT_TRUE(result.ok()) << result.status();
    sent_ += points.size();
    ASSERT_EQ(ingest_.counts().total(), sent_);  // each sample has exactly one outcome
  }
  void Close(double watermark_s) {
    ingest_.CloseUntil(At(watermark_s), [this](const ClosedWindow& w) { closed_.push_back(w); });
  }
  static Timestamp At(double s) { return {kBegin * kMicrosPerSecond + std::llround(s * 1e6)}; }

  // Returns the windows as text, with jobs and tasks in the order of their names. The text must not depend on
  // the order of samples.
  std::string Text() const {
    std::map<std::string, std::string> lines;
    for (const ClosedWindow& w : closed_) {
      for (const JobWindowData& j : w.jobs) {
        const std::string job = StrCat(w.window.index, " ", ingest_.mapper().jobs().name(j.job));
        lines[job] = StrCat(job, " limits ", j.window.cpu_limit_cores, " ", j.window.memory_limit_bytes);
        for (uint32_t b = 0; b < j.window.num_buckets; ++b) {
          const BucketWeight& bucket = w.cpu_buckets[j.window.first_bucket + b];
          StrAppend(&lines[job], " ", bucket.bucket, ":", bucket.weight);
        }
        if (j.window.load >= 0) StrAppend(&lines[job], " load ", j.window.load);
        for (uint32_t t = 0; t < j.window.num_tasks; ++t) {
          const TaskWindow& task = w.tasks[j.window.first_task + t];
          const std::string key = StrCat(job, " ", TaskName(j.job, task.task));
          lines[key] = StrCat(key, " ", task.cpu_mean_cores, " ", task.cpu_peak_cores, " ",
                              task.memory_mean_bytes, " ", task.memory_peak_bytes);
        }
      }
    }
    std::string out;
    for (const auto& [key, line] : lines) StrAppend(&out, line, "\n");
    return out;
  }

  std::string_view TaskName(JobId job, uint32_t task) const {
    for (uint32_t slot = 0; slot < ingest_.mapper().num_slots(); ++slot) {
      const SeriesBinding& b = ingest_.mapper().binding(slot);
      if (b.in_use && b.job == job && b.task == task)
        return ingest_.mapper().jobs().tasks.name(ingest_.mapper().binding(slot).task_entry);
    }
    return "?";
  }

  // Returns the only task of the only job of closed window `i`.
  const TaskWindow& Task(size_t i = 0) const {
    EXPECT_GT(closed_.size(), i);
    EXPECT_EQ(closed_[i].tasks.size(), 1U);
    return closed_[i].tasks.at(0);
  }
  const std::vector<ClosedWindow>& closed() const { return closed_; }
  Ingest& ingest() { return ingest_; }
  const IngestCounts& counts() const { return ingest_.counts(); }

 private:
  Ingest ingest_;
  std::vector<ClosedWindow> closed_;
  uint64_t sent_ = 0;
};

Point Counter(double second, double value) { return {"cpu_seconds_total", "j", "t", "", "", second, value}; }
Point Memory(double second, double value) { return {"memory_bytes", "j", "t", "", "", second, value}; }

std::vector<std::pair<double, float>> Buckets(const ClosedWindow& w) {
  std::vector<std::pair<double, float>> out;
  for (const BucketWeight& b : w.cpu_buckets) out.emplace_back(Grid::Cpu().UpperBound(b.bucket), b.weight);
  return out;
}

TEST(LiveWindows, EverySampleHasOneOutcome) {
  Ingest::Options options;
  options.windows.max_samples_per_series = 4;
  options.limits.max_label_value_bytes = 30;
  Cell cell(options);
  const auto expect = [&cell](const Point& p, uint64_t IngestCounts::*field) {
    const uint64_t before = cell.counts().*field;
    cell.Send({p}, 300);
    EXPECT_EQ(cell.counts().*field, before + 1) << p.second << " " << p.value;
  };
  expect(Memory(100, 5), &IngestCounts::accepted);
  expect(Memory(130, 6), &IngestCounts::accepted);
  expect(Memory(115, 7), &IngestCounts::out_of_order);
  expect(Memory(115, 7), &IngestCounts::duplicates);
  expect(Memory(115, 8), &IngestCounts::conflicts);
  expect(Memory(145, StaleMarker()), &IngestCounts::stale_markers);
  expect(Memory(145, StaleMarker()), &IngestCounts::duplicates);
  expect(Memory(150, 5), &IngestCounts::over_capacity);
  expect(Memory(150, std::nan("")), &IngestCounts::nan);
  expect(Memory(150, std::numeric_limits<double>::infinity()), &IngestCounts::invalid);
  expect(Memory(150, 1.1e30), &IngestCounts::invalid);
  expect(Memory(150, -1), &IngestCounts::invalid);
  expect(Memory(901, 5), &IngestCounts::far_future);
  expect({"other", "j", "t", "", "", 100, 1}, &IngestCounts::unmapped);
  expect({"memory_bytes", "j", "", "", "", 100, 1}, &IngestCounts::unmapped);
  expect({"memory_bytes", std::string(31, 'x'), "t", "", "", 100, 1}, &IngestCounts::refused);
  cell.Close(420);
  expect(Memory(299, 5), &IngestCounts::too_late);
  EXPECT_THAT(cell.Task().memory_peak_bytes, 8);
}

TEST(LiveWindows, AConflictKeepsTheLargerWhicheverCameFirst) {
  for (const bool larger_first : {true, false}) {
    Cell cell;
    cell.Send(
        {Memory(10, larger_first ? 9 : 3), Memory(10, larger_first ? 3 : 9), Memory(10, StaleMarker())});
    EXPECT_EQ(cell.counts().conflicts, 2U);
    cell.Close(420);
    EXPECT_EQ(cell.Task().memory_peak_bytes, 9);
  }
  Cell cell;
  cell.Send({Memory(10, StaleMarker()), Memory(10, 4)});
  cell.Close(420);
  EXPECT_EQ(cell.Task().memory_peak_bytes, 4);
}

TEST(LiveWindows, TakesRatesOfCountersOverTheEdgesOfWindows) {
  Cell cell;
  // Usage is 1 core for 60 s, 3 cores for the 240 s around the edge, and unknown later.
  cell.Send({Counter(120, 100), Counter(180, 160), Counter(420, 880), Counter(480, 880)});
  cell.Close(720);
  ASSERT_EQ(cell.closed().size(), 2U);
  EXPECT_THAT(cell.Task(0).cpu_mean_cores, FloatNear((60 * 1 + 120 * 3) / 180.0F, 1e-5F));
  EXPECT_EQ(cell.Task(0).cpu_peak_cores, 3);
  EXPECT_EQ(cell.Task(0).memory_peak_bytes, kAbsent);
  EXPECT_THAT(cell.Task(1).cpu_mean_cores, FloatNear(120 * 3 / 180.0F, 1e-5F));
  const auto buckets = Buckets(cell.closed()[0]);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].second, 60);
  EXPECT_EQ(buckets[1].second, 120);
  EXPECT_GE(buckets[1].first, 3);
  EXPECT_LE(buckets[1].first, 3 * 1.05);
}

TEST(LiveWindows, ACounterThatStartsAgainCountsFromZero) {
  Cell cell;
  cell.Send({Counter(0, 1000), Counter(60, 1060), Counter(120, 30), Counter(180, 90)});
  cell.Close(420);
  EXPECT_THAT(cell.Task().cpu_mean_cores, FloatNear((60 + 30 + 60) / 180.0F, 1e-5F));
  EXPECT_EQ(cell.ingest().windows().fold_counts().events.counter_resets, 1U);
}

TEST(LiveWindows, ACounterThatWobblesHasNoRateOfItsWholeValue) {
  Cell cell;
  cell.Send({Counter(0, 5000), Counter(60, 4999.9), Counter(120, 5059.9)});
  cell.Close(420);
  EXPECT_EQ(cell.Task().cpu_peak_cores, 1);
  EXPECT_EQ(cell.ingest().windows().fold_counts().events.counter_jitter, 1U);
}

TEST(LiveWindows, GapsStaleMarkersAndImpossibleRatesGiveNoRate) {
  Cell cell;
  cell.Send({Counter(0, 0), Counter(301, 301)});
  cell.Close(720);
  EXPECT_THAT(cell.closed(), IsEmpty());
  EXPECT_EQ(cell.ingest().windows().fold_counts().events.gaps, 1U);
  Cell stale;
  stale.Send({Counter(0, 0), Counter(15, 15), Counter(20, StaleMarker()), Counter(30, 40), Counter(45, 55)});
  stale.Close(420);
  EXPECT_EQ(stale.Task().cpu_mean_cores, 1);
  ASSERT_EQ(Buckets(stale.closed()[0]).size(), 1U);
  EXPECT_EQ(Buckets(stale.closed()[0])[0].second, 30);
  Cell huge;
  huge.Send({Counter(0, 0), Counter(15, 1e6), Counter(30, 1e6 + 15)});
  huge.Close(420);
  EXPECT_EQ(huge.Task().cpu_peak_cores, 1);
  EXPECT_EQ(huge.ingest().windows().fold_counts().events.implausible_rates, 1U);
}

TEST(LiveWindows, ATaskAboveTheGridCountsAsItsLargestAmount) {
  Cell cell;
  cell.Send({Counter(0, 0), Counter(15, 15 * 1500), Counter(30, 30 * 1500)});
  cell.Close(420);
  EXPECT_NEAR(cell.Task().cpu_peak_cores, Grid::Cpu().upper_bounds().back(), 1);
  EXPECT_EQ(cell.ingest().windows().fold_counts().events.implausible_rates, 2U);
}

TEST(LiveWindows, AGaugeStandsUntilTheNextSampleAndHalfAnIntervalAtTheEnd) {
  Cell cell;
  cell.Send({Memory(0, 100), Memory(20, 300), Memory(60, 200), Memory(310, 999)});
  cell.Close(420);
  // The value is 100 for 20 s, 300 for 40 s, and 200 until the window's end.
  EXPECT_THAT(cell.Task().memory_mean_bytes, FloatNear((100 * 20 + 300 * 40 + 200 * 240) / 300.0F, 1e-3F));
  EXPECT_EQ(cell.Task().memory_peak_bytes, 300);
  EXPECT_EQ(cell.Task().cpu_mean_cores, kAbsent);
  Cell last;
  last.Send({Memory(0, 100), Memory(20, 300)});
  last.Close(420);
  EXPECT_THAT(last.Task().memory_mean_bytes, FloatNear((100 * 20 + 300 * 10) / 30.0F, 1e-3F));
  Cell cores;
  cores.Send({{"cpu_cores", "j", "t", "", "", 0, 2}, {"cpu_cores", "j", "t", "", "", 30, 4}});
  cores.Close(420);
  EXPECT_THAT(cores.Task().cpu_mean_cores, FloatNear((2 * 30 + 4 * 15) / 45.0F, 1e-5F));
}

TEST(LiveWindows, AddsPartsUpAndTakesTwinsOnce) {
  Cell cell;
  std::vector<Point> points;
  for (int s = 0; s <= 300; s += 30) {
    const auto t = static_cast<double>(s);
    for (const char* replica : {"a", "b"}) {  // two Prometheus servers
      points.push_back({"memory_bytes", "j", "t", "app", replica, t + (replica[0] == 'b' ? 7 : 0), 100});
      points.push_back({"memory_bytes", "j", "t", "proxy", replica, t, 10});
      points.push_back({"cpu_seconds_total", "j", "t", "app", replica, t, t * 2});
      points.push_back({"cpu_seconds_total", "j", "t", "proxy", replica, t, t / 2});
    }
  }
  cell.Send(points);
  cell.Close(420);
  EXPECT_EQ(cell.Task().memory_mean_bytes, 110);
  EXPECT_EQ(cell.Task().memory_peak_bytes, 110);
  EXPECT_EQ(cell.Task().cpu_mean_cores, 2.5);
  EXPECT_EQ(cell.Task().cpu_peak_cores, 2.5);
  ASSERT_EQ(Buckets(cell.closed()[0]).size(), 1U);
  EXPECT_EQ(Buckets(cell.closed()[0])[0].second, 300);
}

TEST(LiveWindows, SubtractsOnlyWhereAllIsKnown) {
  Cell cell;
  cell.Send({{"memory_bytes", "j", "t", "total", "", 0, 1000},
             {"memory_bytes", "j", "t", "total", "", 100, 1000},
             {"memory_bytes", "j", "t", "total", "", 200, 1000},
             {"less", "j", "t", "free", "", 0, 400},
             {"less", "j", "t", "free", "", 100, StaleMarker()},
             {"less", "j", "t", "free", "", 200, 100}});
  cell.Close(420);
  // The sum is not 1000, which would ignore the value of `free`.
  EXPECT_EQ(cell.Task().memory_peak_bytes, 900);
  // The value is 600 for 100 s, and 900 for the 50 s in which the last samples of both series are valid.
  EXPECT_THAT(cell.Task().memory_mean_bytes, FloatNear((600 * 100 + 900 * 50) / 150.0F, 0.01F));
}

TEST(LiveWindows, TheOwnersLimitIsTheLargestOfItsTasksAndNeedsEveryPart) {
  Cell cell;
  const auto limit = [](const char* task, const char* part, double second, double value) {
    return Point{"memory_limit_bytes", "j", task, part, "", second, value};
  };
  const auto use = [](const char* task, const char* part, double second) {
    return Point{"memory_bytes", "j", task, part, "", second, 1};
  };
  cell.Send({use("a", "app", 0), use("a", "proxy", 0), limit("a", "app", 0, 50), limit("a", "app", 60, 100),
             limit("a", "proxy", 5, 10), use("b", "app", 0), limit("b", "app", 5, 90),
             limit("gone", "app", 5, 5000)});
  cell.Send({use("a", "app", 310), use("a", "proxy", 310), use("a", "sidecar", 310), use("b", "app", 310),
             limit("b", "app", 320, 0), limit("b", "app", 620, 70), use("b", "app", 620)});
  cell.Close(1020);
  ASSERT_EQ(cell.closed().size(), 3U);
  EXPECT_EQ(cell.closed()[0].jobs.at(0).window.memory_limit_bytes, 110);
  EXPECT_EQ(cell.closed()[0].jobs.at(0).window.cpu_limit_cores, kAbsent);
  // A sidecar has no limit; the value 0 means no limit.
  EXPECT_EQ(cell.closed()[1].jobs.at(0).window.memory_limit_bytes, kAbsent);
  EXPECT_EQ(cell.closed()[2].jobs.at(0).window.memory_limit_bytes, 70);
}

// Values that mean "no limit" in cgroup v1, and in Docker before 1.10, count as no limit.
TEST(LiveWindows, ALimitThatNoMachineHasIsNone) {
  for (const double none : {9223372036854771712.0, 18446744073709551615.0, 0x1p60}) {
    Cell cell;
    cell.Send({{"memory_bytes", "j", "t", "app", "", 0, 1},
               {"memory_limit_bytes", "j", "t", "app", "", 0, none},
               {"memory_request_bytes", "j", "t", "app", "", 0, none}});
    cell.Close(420);
    EXPECT_EQ(cell.closed().at(0).jobs.at(0).window.memory_limit_bytes, kAbsent) << none;
  }
  Cell cell;  // another source reports a limit
  cell.Send({{"memory_bytes", "j", "t", "app", "", 0, 1},
             {"memory_limit_bytes", "j", "t", "app", "spec", 0, 9223372036854771712.0},
             {"memory_limit_bytes", "j", "t", "app", "kube", 0, 1000}});
  cell.Close(420);
  EXPECT_EQ(cell.closed().at(0).jobs.at(0).window.memory_limit_bytes, 1000);
}

TEST(LiveWindows, NativeHistogramsAreCounted) {
  const RemoteSeries up{{{"__name__", "memory_bytes"}, {"j", "j"}, {"p", ""}, {"t", "t"}},
                        {{1, kBegin * 1000}}};
  std::string message = EncodeWriteMessage(std::span(&up, 1));
  // A series whose only field except its name is field 4, a histogram: 0A (label "__name__": "h"), 22 (one
  // byte).
  const std::string label = std::string("\x0a\x08__name__\x12\x01h", 13);
  const std::string series = std::string("\x0a\x0d") + label + std::string("\x22\x01h", 3);
  message += std::string("\x0a") + static_cast<char>(series.size()) + series;
  std::string body;
  snappy::Compress(message.data(), message.size(), &body);
  Ingest ingest(*MappingRules::Compile(PlainRules()), {});
  ASSERT_TRUE(ingest.Write(body, Cell::At(600)).ok());
  EXPECT_EQ(ingest.counts().histograms, 1U);
  EXPECT_EQ(ingest.counts().accepted, 1U);
  EXPECT_EQ(ingest.counts().total(), 2U);
}

TEST(LiveWindows, RequestsAreFoldedAsLimitsAre) {
  Cell cell;
  const auto request = [](const char* part, double value) {
    return Point{"cpu_request_cores", "j", "a", part, "", 5, value};
  };
  const auto use = [](const char* part) { return Point{"cpu_cores", "j", "a", part, "", 0, 1}; };
  cell.Send({use("app"), use("proxy"), request("app", 0.5), request("proxy", 0.25)});
  cell.Close(420);
  ASSERT_EQ(cell.closed().size(), 1U);
  JobWindowData job = cell.closed()[0].jobs.at(0);
  EXPECT_EQ(job.requests.cpu_cores, 0.75F);
  EXPECT_EQ(job.requests.memory_bytes, kAbsent);
  EXPECT_EQ(job.window.cpu_limit_cores, kAbsent);
  TakeOwnersAmount(Allocation(), Resource::kCpu, job);
  EXPECT_EQ(job.window.cpu_limit_cores, 0.75F) << "the request, where there is no limit";
  job.window.cpu_limit_cores = 2;
  TakeOwnersAmount(Allocation(), Resource::kCpu, job);
  EXPECT_EQ(job.window.cpu_limit_cores, 2);
  TakeOwnersAmount({AppliesTo::kRequest, std::nullopt}, Resource::kCpu, job);
  EXPECT_EQ(job.window.cpu_limit_cores, 0.75F);
}

TEST(LiveWindows, PeriodsOfLimitsAreCountedByTask) {
  Cell cell;
  std::vector<Point> points;
  const auto add = [&](const char* task, const char* part, const char* replica, int s, double throttled) {
    points.push_back({"cpu_periods_total", "web", task, part, replica, double(s), 1000 + 10.0 * s});
    points.push_back({"cpu_throttled_periods_total", "web", task, part, replica, double(s), throttled * s});
  };
  for (int s = 0; s <= 330; s += 30) {
    points.push_back({"cpu_cores", "web", "a", "app", "", double(s), 0.5});
    points.push_back({"cpu_cores", "web", "b", "app", "", double(s), 0.5});
    points.push_back({"cpu_cores", "free", "a", "app", "", double(s), 0.5});
    // If two series measure the same usage, the usage counts once; the containers of a pod are added up.
    for (const char* replica : {"1", "2"}) add("a", "app", replica, s, 2);
    add("a", "proxy", "", s, 1);
    add("b", "app", "", s, 0);
    add("gone", "app", "", s, 5);  // no measurement, so the window does not have this task
  }
  cell.Send(points);
  cell.Close(420);
  ASSERT_EQ(cell.closed().size(), 1U);
  const ClosedWindow& w = cell.closed()[0];
  ASSERT_EQ(w.jobs.size(), 2U);
  ASSERT_EQ(w.throttling.size(), 2U);
  EXPECT_TRUE(w.reports.empty()) << "no limit is claimed";
  for (const JobWindowData& j : w.jobs) {
    const bool web = cell.ingest().mapper().jobs().name(j.job) == "web";
    EXPECT_EQ(j.num_throttling, web ? 2U : 0U);
    EXPECT_EQ(j.window.num_tasks, web ? 2U : 1U);
    if (!web) {
      EXPECT_EQ(j.window.cpu_throttled, kAbsent);
      continue;
    }
    EXPECT_NEAR(j.window.cpu_throttled, 900.0 / 9000, 1e-6);
    for (uint32_t t = 0; t < 2; ++t) {
      const TaskThrottling& counted = w.throttling[j.first_throttling + t];
      const bool is_a = cell.TaskName(j.job, counted.task) == "a";
      EXPECT_EQ(counted.periods, is_a ? 6000U : 3000U);
      EXPECT_EQ(counted.throttled, is_a ? 900U : 0U);
    }
  }
}

TEST(LiveWindows, TheLoadIsThatOfAllSeriesOfTheJob) {
  Cell cell;
  std::vector<Point> points;
  for (int s = 0; s <= 300; s += 15) {
    points.push_back({"memory_bytes", "web", "a", "", "", double(s), 100});
    // One task has ten requests a second; the other has twenty and starts in the middle.
    points.push_back({"load_total", "web", "a", "", "", double(s), 10.0 * s});
    if (s >= 150) points.push_back({"load_total", "web", "b", "", "", double(s), 20.0 * (s - 150)});
    // A part that is measured twice counts once; the parts of one task are added up.
    for (const char* replica : {"1", "2"})
      points.push_back({"load", "queue", "q", "x", replica, double(s), 7});
    points.push_back({"load", "queue", "q", "y", "", double(s), 5});
    points.push_back({"memory_bytes", "queue", "worker", "", "", double(s), 100});
    points.push_back({"load", "nobody", "q", "", "", double(s), 5});
    points.push_back({"memory_bytes", "idle", "a", "", "", double(s), 100});
  }
  cell.Send(points);
  cell.Close(1000);
  ASSERT_FALSE(cell.closed().empty());
  const ClosedWindow& w = cell.closed()[0];
  std::map<std::string, float> loads;
  for (const JobWindowData& j : w.jobs) {
    const std::string name(cell.ingest().mapper().jobs().name(j.job));
    loads[name] = j.window.load;
    EXPECT_EQ(j.window.num_tasks, name == "nobody" ? 0U : 1U) << "a load is not a task";
  }
  EXPECT_EQ(loads.size(), 4U) << "a load alone makes a window: the job may be at zero";
  EXPECT_NEAR(loads["nobody"], 5, 0.01);
  EXPECT_NEAR(loads["web"], 10 + 20 * 0.5, 0.01);
  EXPECT_NEAR(loads["queue"], 12, 0.01);
  EXPECT_EQ(loads["idle"], kAbsent);
}

TEST(LiveWindows, SignalsAreAddedUpByName) {
  std::vector<MappingRule> rules = PlainRules();
  rules.push_back({.name = "q",
                   .metric = "depth",
                   .match = {},
                   .kind = SeriesKind::kLoad,
                   .job = "{j}",
                   .task = "{t}",
                   .part = "{p}",
                   .scale = 2,
                   .signal = "queue_length"});
  rules.push_back({.name = "r",
                   .metric = "hits",
                   .match = {},
                   .kind = SeriesKind::kLoadTotal,
                   .job = "{j}",
                   .task = "{t}",
                   .part = "",
                   .signal = "hits"});
  Cell cell({}, rules);
  std::vector<Point> points;
  for (int s = 0; s <= 300; s += 15) {
    points.push_back({"memory_bytes", "web", "a", "", "", double(s), 100});
    points.push_back({"depth", "web", "a", "", "", double(s), 10});
    points.push_back({"depth", "web", "b", "", "", double(s), s < 150 ? 5.0 : 15.0});
    points.push_back({"hits", "web", "a", "", "", double(s), 3.0 * s});
    points.push_back({"load", "web", "a", "", "", double(s), 7});
    points.push_back({"depth", "alone", "a", "", "", double(s), 1});
  }
  cell.Send(points);
  cell.Close(1000);
  ASSERT_FALSE(cell.closed().empty());
  const ClosedWindow& w = cell.closed()[0];
  ASSERT_EQ(w.jobs.size(), 2U) << "signals alone make a window: the number of tasks may be known otherwise";
  for (const JobWindowData& j : w.jobs) {
    const std::span<const NamedSignal> its =
        std::span(w.signals).subspan(j.window.first_signal, j.window.num_signals);
    if (cell.ingest().mapper().jobs().name(j.job) == "alone") {
      ASSERT_EQ(its.size(), 1U);
      EXPECT_NEAR(its[0].value, 2, 0.01);
      EXPECT_EQ(j.window.num_tasks, 0U);
      continue;
    }
    ASSERT_EQ(its.size(), 2U) << "of tasks a and b; in the order of the names";
    EXPECT_EQ(its[0].name, "hits");
    EXPECT_NEAR(its[0].value, 3, 0.01);
    EXPECT_EQ(its[1].name, "queue_length");
    EXPECT_NEAR(its[1].value, 2 * (10 + 10), 0.01);
    EXPECT_NEAR(j.window.load, 7, 0.01) << "a signal is no load";
    EXPECT_EQ(j.window.num_tasks, 1U) << "and no task";
  }
}

TEST(LiveWindows, ClosesInOrderOnceAndOnlyPastTheGrace) {
  Cell cell;
  cell.Send({Memory(10, 1), Memory(310, 2), Memory(1210, 3)}, 1210);
  cell.Close(419.9);
  EXPECT_THAT(cell.closed(), IsEmpty());
  cell.Close(420);
  ASSERT_EQ(cell.closed().size(), 1U);
  EXPECT_EQ(cell.closed()[0].window.start_s(), kBegin);
  cell.Close(1000);  // the series never returns
  cell.Close(420);
  ASSERT_EQ(cell.closed().size(), 2U);
  EXPECT_EQ(cell.ingest().windows().first_open().start_s(), kBegin + 600);
  cell.Close(5000);
  ASSERT_EQ(cell.closed().size(), 3U);  // windows without data are missing
  EXPECT_EQ(cell.closed()[2].window.start_s(), kBegin + 1200);
  EXPECT_EQ(cell.ingest().windows().fold_counts().windows, 3U);
  Ingest::Options options;
  options.windows.first_open = WindowId::Of(Cell::At(300));
  Cell later(options);
  later.Send({Memory(10, 1)});
  EXPECT_EQ(later.counts().too_late, 1U);
}

TEST(LiveWindows, OomKillsComeAtOnceAndOnce) {
  Cell cell;
  const auto oom = [](const char* replica, double second, double value) {
    return Point{"oom_total", "j", "t", "app", replica, second, value};
  };
  cell.Send({oom("a", 0, 3), oom("b", 2, 3)});
  EXPECT_THAT(cell.ingest().TakeOoms(), IsEmpty());  // kills before the first sample are not reported
  cell.Send({oom("a", 15, 3), oom("a", 30, 5), oom("b", 32, 5)});
  const std::vector<OomSighting> seen = cell.ingest().TakeOoms();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].kills, 2U);
  EXPECT_EQ(seen[0].time, Cell::At(30));
  EXPECT_EQ(cell.TaskName(seen[0].job, seen[0].task), "t");
  EXPECT_THAT(cell.ingest().TakeOoms(), IsEmpty());
  cell.Send({oom("a", 45, 1)});  // the counter started again, and one process was killed
  EXPECT_EQ(cell.ingest().TakeOoms().size(), 1U);
  cell.Send({oom("a", 20, 4), oom("a", 45, 9)});  // late samples report no kill
  EXPECT_THAT(cell.ingest().TakeOoms(), IsEmpty());
}

TEST(LiveWindows, AForgottenSlotStartsEmpty) {
  Cell cell;
  cell.Send({Counter(0, 100), Counter(15, 115)}, 15);
  cell.Close(420);
  EXPECT_EQ(cell.ingest().ForgetIdle(Cell::At(3500)), 0U);
  EXPECT_EQ(cell.ingest().ForgetIdle(Cell::At(3700)), 1U);
  // The slot is reused for another series: no counter value of the old series is left.
  cell.Send({{"cpu_seconds_total", "other", "t", "", "", 3700, 50},
             {"cpu_seconds_total", "other", "t", "", "", 3715, 65}},
            3715);
  EXPECT_EQ(cell.ingest().mapper().num_slots(), 1U);
  cell.Close(4320);
  ASSERT_EQ(cell.closed().size(), 2U);
  EXPECT_EQ(cell.Task(1).cpu_mean_cores, 1);
}

TEST(LiveWindows, AClosedJobIsADayOfOneWindow) {
  Cell cell;
  cell.Send({{"memory_bytes", "a", "t", "", "", 0, 1},
             {"cpu_cores", "b", "x", "", "", 0, 1},
             {"cpu_cores", "b", "y", "", "", 0, 2}});
  cell.Close(420);
  JobDay day;
  ToJobDay(cell.closed().at(0), 1, day);
  EXPECT_EQ(day.job, JobId{1});
  EXPECT_EQ(day.day, WindowId::Of(Cell::At(0)).day());
  ASSERT_EQ(day.windows.size(), 1U);
  EXPECT_EQ(day.windows[0].first_task, 0U);
  EXPECT_EQ(day.windows[0].num_tasks, 2U);
  EXPECT_EQ(day.windows[0].first_bucket, 0U);
  ASSERT_EQ(day.tasks.size(), 2U);
  EXPECT_EQ(day.tasks[1].cpu_mean_cores, 2);
  ASSERT_EQ(day.cpu_buckets.size(), 2U);
  EXPECT_LT(day.cpu_buckets[0].bucket, day.cpu_buckets[1].bucket);
}

// Times are whole seconds and values are small, so that a reference can compute second by second.
rc::Gen<std::vector<Point>> ArbitraryPoints() {
  const auto gauge = rc::gen::build<Point>(
      rc::gen::set(&Point::metric,
                   rc::gen::element<std::string>("memory_bytes", "cpu_cores", "cpu_seconds_total",
                                                 "memory_limit_bytes", "oom_total")),
      rc::gen::set(&Point::job, rc::gen::element<std::string>("j", "k")),
      rc::gen::set(&Point::task, rc::gen::element<std::string>("s", "t")),
      rc::gen::set(&Point::part, rc::gen::element<std::string>("p", "q")),
      rc::gen::set(&Point::extra, rc::gen::element<std::string>("", "x")),
      rc::gen::set(&Point::second, rc::gen::map(rc::gen::inRange(0, 650), [](int s) { return double(s); })),
      rc::gen::set(&Point::value, rc::gen::map(rc::gen::inRange(-1, 500),
                                               [](int v) { return v < 0 ? StaleMarker() : double(v); })));
  return rc::gen::scale(3, rc::gen::container<std::vector<Point>>(gauge));
}

// A stale marker of an unknown series creates no series. Each series therefore begins with a number; otherwise the
// order is random.
void NumbersBeforeMarkers(std::vector<Point>& points) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, size_t> marker;
  for (size_t i = 0; i < points.size(); ++i) {
    const Point& p = points[i];
    const bool stale = IsStaleMarker(p.value);
    const auto [it, is_new] =
        marker.try_emplace({p.metric, p.job, p.task, p.part, p.extra}, stale ? i : SIZE_MAX);
    if (is_new || stale || it->second == SIZE_MAX) continue;
    std::swap(points[i], points[std::exchange(it->second, SIZE_MAX)]);
  }
}

RC_GTEST_PROP(LiveWindows, OrderAndSplittingDoNotMatter, ()) {
  std::vector<Point> points = *ArbitraryPoints();
  NumbersBeforeMarkers(points);
  Cell whole;
  whole.Send(points);
  whole.Close(1200);
  std::vector<Point> shuffled = points;
  for (size_t i = shuffled.size(); i > 1; --i)
    std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<size_t>(0, i)]);
  NumbersBeforeMarkers(shuffled);
  Cell split;
  for (size_t i = 0; i < shuffled.size();) {
    std::vector<Point> some;
    for (size_t n = *rc::gen::inRange<size_t>(1, 5); n > 0 && i < shuffled.size(); --n)
      some.push_back(shuffled[i++]);
    split.Send(some);
    split.Close(0);  // this call closes no window
  }
  // The first window may close before the other windows are complete; its contents do not change.
  split.Close(420);
  split.Close(1200);
  RC_ASSERT(split.Text() == whole.Text());
  // If a number and a stale marker have the same time, their order determines which one is accepted; neither is
  // dropped.
  const auto kept = [](const IngestCounts& c) {
    return c.accepted + c.out_of_order + c.stale_markers + c.conflicts + c.duplicates;
  };
  RC_ASSERT(kept(split.counts()) == points.size());
  RC_ASSERT(kept(whole.counts()) == points.size());
}

// Returns the value in second `s` (after kBegin) of one resource of one task, directly by the definition.
double Standing(const std::vector<Point>& points, const std::string& metric, int s) {
  std::map<std::string, double> parts;
  std::map<std::pair<std::string, std::string>, std::map<int, double>> series;
  for (const Point& p : points) {
    if (p.metric != metric) continue;
    auto [it, is_new] = series[{p.part, p.extra}].try_emplace(int(p.second), p.value);
    if (is_new || IsStaleMarker(p.value)) continue;
    if (IsStaleMarker(it->second) || p.value > it->second) it->second = p.value;
  }
  const int window = s / 300 * 300;
  for (const auto& [key, samples] : series) {
    double value = -1;
    if (metric == "cpu_seconds_total") {
      const auto to = samples.upper_bound(s);
      if (to == samples.end() || to == samples.begin()) continue;
      const auto from = std::prev(to);
      if (IsStaleMarker(from->second) || IsStaleMarker(to->second) || to->first - from->first > 300) continue;
      const double v0 = from->second, v1 = to->second;
      value = (v1 >= v0 ? v1 - v0 : v1 >= v0 * 0.99 ? 0 : v1) / (to->first - from->first);
    } else {
      auto at = samples.upper_bound(s);
      if (at == samples.begin() || std::prev(at)->first < window) continue;
      const auto next = at--;
      if (IsStaleMarker(at->second)) continue;
      double end = at->first + 7.5;
      if (at != samples.begin()) {
        const int since = at->first - std::prev(at)->first;
        if (since <= 300) end = at->first + since / 2.0;
      }
      if (next != samples.end() && next->first - at->first <= 300) end = next->first;
      if (s + 0.5 > end) continue;  // half seconds are handled by the caller
      value = at->second;
    }
    auto [it, is_new] = parts.try_emplace(key.first, value);
    if (!is_new) it->second = std::max(it->second, value);
  }
  double sum = parts.empty() ? -1 : 0;
  for (const auto& [part, value] : parts) sum += value;
  return sum;
}

RC_GTEST_PROP(LiveWindows, PeaksAndMeansAreThoseOfEverySecond, ()) {
  std::vector<Point> points = *ArbitraryPoints();
  std::erase_if(points,
                [](const Point& p) { return p.job != "j" || p.task != "s" || p.metric == "cpu_cores"; });
  NumbersBeforeMarkers(points);
  Cell cell;
  cell.Send(points);
  cell.Close(1200);
  for (int w = 0; w < 3; ++w) {
    const TaskWindow* task = nullptr;
    for (const ClosedWindow& closed : cell.closed()) {
      if (closed.window.start_s() == kBegin + 300 * w) task = &closed.tasks.at(0);
    }
    for (const bool cpu : {true, false}) {
      double peak = -1, sum = 0, seconds = 0;
      for (int s = 300 * w; s < 300 * (w + 1); ++s) {
        const double value = Standing(points, cpu ? "cpu_seconds_total" : "memory_bytes", s);
        if (value < 0) continue;
        peak = std::max(peak, value);
        sum += value;
        seconds += 1;
      }
      const float got_peak = task == nullptr ? kAbsent : cpu ? task->cpu_peak_cores : task->memory_peak_bytes;
      RC_ASSERT(std::abs(got_peak - peak) <= 1e-5 * std::max(1.0, peak));
      const float got_mean = task == nullptr ? kAbsent : cpu ? task->cpu_mean_cores : task->memory_mean_bytes;
      // The reference may include or miss the half second at the end of a gauge's value, at most once per value.
      const double slack = cpu ? 1e-4 : seconds > 0 ? peak * static_cast<double>(points.size()) / seconds : 0;
      RC_ASSERT(std::abs(got_mean - (seconds > 0 ? sum / seconds : -1)) <= 1e-4 + slack);
    }
  }
}

// ---- windows that agents folded ----

ReportedWindow Reported(int window, float cpu, float memory, float seconds) {
  ReportedWindow w;
  w.window = WindowId{static_cast<int32_t>(kBegin / kWindowSeconds) + window};
  w.figures.cpu_mean_cores = w.figures.cpu_peak_cores = cpu;
  w.figures.memory_mean_bytes = w.figures.memory_peak_bytes = memory;
  w.cpu_buckets = {{Grid::Cpu().BucketOf(double{cpu}), seconds}};
  w.cpu_limit_cores = 2;
  return w;
}

uint32_t SlotOf(Cell& cell, std::string_view task, double now_s = 600) {
  return *cell.ingest().TaskSlot("j", task, {}, Cell::At(now_s));
}

TEST(ReportedWindows, TwoHalvesOfOneWindowAreAddedUp) {
  Cell cell;
  const uint32_t slot = SlotOf(cell, "t");
  EXPECT_TRUE(cell.ingest().TakeWindow(slot, Reported(0, 1, 100, 100), Cell::At(200)));
  EXPECT_TRUE(cell.ingest().TakeWindow(slot, Reported(0, 4, 700, 200), Cell::At(310)));
  cell.Close(1000);
  EXPECT_EQ(cell.counts().accepted, 2U);
  EXPECT_FLOAT_EQ(cell.Task().cpu_mean_cores, 3);
  EXPECT_FLOAT_EQ(cell.Task().cpu_peak_cores, 4);
  EXPECT_FLOAT_EQ(cell.Task().memory_mean_bytes, 500);
  EXPECT_FLOAT_EQ(cell.Task().memory_peak_bytes, 700);
  EXPECT_EQ(cell.closed()[0].jobs[0].window.cpu_limit_cores, 2);
  float seconds = 0;
  for (const BucketWeight& b : cell.closed()[0].cpu_buckets) seconds += b.weight;
  EXPECT_FLOAT_EQ(seconds, 300);
  EXPECT_EQ(cell.closed()[0].cpu_buckets.size(), 2U);
}

TEST(ReportedWindows, AHalfThatMeasuredOneResourceAddsThatOne) {
  Cell cell;
  const uint32_t slot = SlotOf(cell, "t");
  ReportedWindow memory = Reported(0, 1, 700, 1);
  memory.figures.cpu_mean_cores = memory.figures.cpu_peak_cores = kAbsent;
  memory.cpu_buckets.clear();
  ReportedWindow cpu = Reported(0, 2, 1, 200);
  cpu.figures.memory_mean_bytes = cpu.figures.memory_peak_bytes = kAbsent;
  cell.ingest().TakeWindow(slot, memory, Cell::At(200));
  cell.ingest().TakeWindow(slot, cpu, Cell::At(200));
  cell.Close(1000);
  EXPECT_FLOAT_EQ(cell.Task().cpu_mean_cores, 2);
  EXPECT_FLOAT_EQ(cell.Task().memory_mean_bytes, 700);
}

TEST(ReportedWindows, SayWhichShareOfTheirPeriodsWasThrottled) {
  Cell cell;
  const auto report = [&](std::string_view task, uint32_t periods, uint32_t throttled) {
    ReportedWindow w = Reported(0, 1, 100, 300);
    w.report.cpu_periods = periods;
    w.report.cpu_throttled_periods = throttled;
    cell.ingest().TakeWindow(SlotOf(cell, task), w, Cell::At(310));
  };
  report("a", 3000, 300);
  report("b", 1000, 100);
  report("c", 0, 0);  // task c has no limit
  cell.Close(1000);
  EXPECT_FLOAT_EQ(cell.closed()[0].jobs[0].window.cpu_throttled, 0.1F);
  Cell without;
  without.ingest().TakeWindow(SlotOf(without, "c"), Reported(0, 1, 100, 300), Cell::At(310));
  without.Close(1000);
  EXPECT_EQ(without.closed()[0].jobs[0].window.cpu_throttled, kAbsent);
}

TEST(ReportedWindows, TooLateAndTooEarlyAreDroppedAndCounted) {
  Cell cell;
  const uint32_t slot = SlotOf(cell, "t");
  cell.ingest().TakeWindow(slot, Reported(1, 1, 1, 300), Cell::At(600));
  cell.Close(421);  // the first window, which has no data
  EXPECT_FALSE(cell.ingest().TakeWindow(slot, Reported(0, 1, 1, 300), Cell::At(600)));
  EXPECT_EQ(cell.counts().too_late, 1U);
  EXPECT_FALSE(cell.ingest().TakeWindow(slot, Reported(9, 1, 1, 300), Cell::At(600)));
  EXPECT_EQ(cell.counts().far_future, 1U);
  EXPECT_TRUE(cell.ingest().TakeWindow(slot, Reported(3, 1, 1, 300), Cell::At(600)));
  EXPECT_TRUE(cell.ingest().TakeWindow(slot, Reported(2, 1, 1, 300), Cell::At(600)));
  EXPECT_EQ(cell.counts().accepted, 2U);
  EXPECT_EQ(cell.counts().out_of_order, 1U);
  cell.Close(5000);
  ASSERT_EQ(cell.closed().size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cell.closed()[i].window.index, kBegin / kWindowSeconds + static_cast<int64_t>(i) + 1);
  }
}

TEST(ReportedWindows, ATaskThatIsAlsoASeriesCountsOnce) {
  Cell cell;
  cell.Send({Counter(0, 0), Counter(299, 299 * 8), Memory(0, 5), Memory(299, 5), Counter(599, 599 * 8)});
  cell.ingest().TakeWindow(SlotOf(cell, "t"), Reported(0, 1, 100, 300), Cell::At(600));
  cell.ingest().TakeWindow(SlotOf(cell, "u"), Reported(0, 2, 200, 300), Cell::At(600));
  cell.Close(1000);
  ASSERT_GE(cell.closed().size(), 2U);
  ASSERT_EQ(cell.closed()[0].jobs.size(), 1U);
  ASSERT_EQ(cell.closed()[0].tasks.size(), 2U);
  EXPECT_EQ(cell.closed()[0].tasks[0].cpu_mean_cores, 1);
  EXPECT_EQ(cell.closed()[0].tasks[0].memory_mean_bytes, 100);
  EXPECT_NE(cell.closed()[0].tasks[0].task, cell.closed()[0].tasks[1].task);
  // If a window has no report of its agent, the series are used.
  EXPECT_NEAR(cell.closed()[1].tasks[0].cpu_mean_cores, 8, 0.01);
}

TEST(ReportedWindows, AnAmountThatTheAgentDoesNotKnowIsThatOfTheSeries) {
  Cell cell;
  cell.Send(
      {{"memory_limit_bytes", "j", "t", "app", "", 0, 64}, {"cpu_limit_cores", "j", "t", "app", "", 0, 4}});
  cell.ingest().TakeWindow(SlotOf(cell, "t"), Reported(0, 1, 100, 300), Cell::At(310));
  cell.Close(1000);
  ASSERT_EQ(cell.closed().size(), 1U);
  EXPECT_EQ(cell.Task().memory_mean_bytes, 100);
  EXPECT_EQ(cell.closed()[0].jobs[0].window.cpu_limit_cores, 2) << "the agent says so";
  EXPECT_EQ(cell.closed()[0].jobs[0].window.memory_limit_bytes, 64);
}

TEST(ReportedWindows, IdleTasksAreForgottenWithWhatTheyHold) {
  Cell cell;
  const uint32_t slot = SlotOf(cell, "t");
  cell.ingest().TakeWindow(slot, Reported(0, 1, 1, 300), Cell::At(600));
  const size_t bytes = cell.ingest().windows().state_bytes();
  EXPECT_EQ(cell.ingest().ForgetIdle(Cell::At(1000)), 0U);
  EXPECT_EQ(cell.ingest().ForgetIdle(Cell::At(8000)), 1U);
  EXPECT_LT(cell.ingest().windows().state_bytes(), bytes);
  cell.Close(9000);
  EXPECT_THAT(cell.closed(), IsEmpty());
  const uint32_t again = SlotOf(cell, "t", 9000);
  EXPECT_EQ(cell.ingest().mapper().binding(again).task, 1U) << "its number is not used again";
}

TEST(ReportedWindows, AKillThatIsToldTwiceComesOnce) {
  Cell cell;
  const uint32_t t = SlotOf(cell, "t"), u = SlotOf(cell, "u");
  for (int i = 0; i < 2; ++i) cell.ingest().windows().ooms().Add(t, Cell::At(100), 3, 1e8);
  cell.ingest().windows().ooms().Add(u, Cell::At(100), 1, std::nullopt);
  const std::vector<OomSighting> first = cell.ingest().TakeOoms();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].kills, 3U);
  EXPECT_EQ(first[0].limit, 1e8);
  EXPECT_EQ(first[0].time, Cell::At(100));
  EXPECT_NE(first[0].task, first[1].task);
  cell.ingest().windows().ooms().Add(t, Cell::At(100), 3, 1e8);
  EXPECT_THAT(cell.ingest().TakeOoms(), IsEmpty());
  cell.ingest().windows().ooms().Add(t, Cell::At(101), 1, 1e8);
  EXPECT_EQ(cell.ingest().TakeOoms().size(), 1U) << "a second later it is another";
}

}  // namespace
}  // namespace taut::server
