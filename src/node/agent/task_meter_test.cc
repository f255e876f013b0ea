// Tests the conversion of readings to windows: cases with a known result, and sums that must match.
#include "node/agent/task_meter.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <vector>

namespace taut::node {
namespace {

constexpr int64_t kStart = int64_t{5'000'000} * 300 * kMicrosPerSecond;  // the start of a window
constexpr WindowId kFirst{5'000'000};

TaskReading Reading(std::optional<uint64_t> cpu_us, std::optional<uint64_t> memory = std::nullopt) {
  TaskReading reading;
  reading.cpu_usage_us = cpu_us;
  reading.memory_working_set_bytes = memory;
  return reading;
}

// A meter on a node whose two clocks agree from kStart on.
struct Node {
  explicit Node(const MeterOptions& options = {}) : meter(options), speed(options.speed) {}
  void At(double steady_s, const TaskReading& reading) {
    const auto at = Timestamp{kStart + std::llround(steady_s * speed * kMicrosPerSecond)};
    AtNode(steady_s, at, reading);
  }
  void AtNode(double steady_s, Timestamp at, const TaskReading& reading) {
    meter.Add(reading, std::llround(steady_s * kMicrosPerSecond), at);
    meter.CloseUntil(at, windows);
  }
  std::vector<NodeWindow>& All() {
    meter.CloseAll(windows);
    return windows;
  }
  TaskMeter meter;
  double speed;
  std::vector<NodeWindow> windows;
};

double Seconds(const NodeWindow& window) {
  double sum = 0;
  for (const BucketWeight& b : window.cpu_buckets) sum += double{b.weight};
  return sum;
}

TEST(TaskMeter, FirstReadingCountsNothing) {
  Node node;
  node.At(0, Reading(5'000'000, 100));
  EXPECT_EQ(node.meter.cpu_cores(), std::nullopt);
  EXPECT_EQ(node.meter.memory_bytes(), 100.0);
  EXPECT_TRUE(node.All().empty());
}

TEST(TaskMeter, RatesAreSplitAtTheBorder) {
  Node node;
  node.At(298, Reading(0, 1000));
  node.At(302, Reading(8'000'000, 3000));  // 2 cores, half of the time before the border
  EXPECT_EQ(node.meter.cpu_cores(), 2.0);
  ASSERT_EQ(node.windows.size(), 1U);
  node.At(304, Reading(9'000'000, 1000));  // 0.5 cores
  ASSERT_EQ(node.All().size(), 2U);
  const NodeWindow& first = node.windows[0];
  const NodeWindow& second = node.windows[1];
  EXPECT_EQ(first.window, kFirst);
  EXPECT_EQ(second.window, kFirst.next());
  EXPECT_FLOAT_EQ(first.figures.cpu_mean_cores, 2);
  EXPECT_FLOAT_EQ(first.figures.memory_mean_bytes, 3000);
  EXPECT_FLOAT_EQ(Seconds(first), 2);
  EXPECT_FLOAT_EQ(second.figures.cpu_mean_cores, 1.25);
  EXPECT_FLOAT_EQ(second.figures.cpu_peak_cores, 2);
  EXPECT_FLOAT_EQ(second.figures.memory_mean_bytes, 2000);
  EXPECT_FLOAT_EQ(second.figures.memory_peak_bytes, 3000);
  ASSERT_EQ(second.cpu_buckets.size(), 2U);
  EXPECT_EQ(second.cpu_buckets[0].bucket, Grid::Cpu().BucketOf(0.5));
  EXPECT_FLOAT_EQ(second.cpu_buckets[0].weight, 2);
  EXPECT_EQ(second.cpu_buckets[1].bucket, Grid::Cpu().BucketOf(2));
  EXPECT_FLOAT_EQ(second.cpu_buckets[1].weight, 2);
}

TEST(TaskMeter, PieceOverSeveralWindowsOfAFastNode) {
  MeterOptions options;
  options.speed = 600;  // so a steady second covers two windows
  Node node(options);
  node.At(0, Reading(0));
  node.At(1, Reading(500'000));
  ASSERT_EQ(node.windows.size(), 2U);
  for (const NodeWindow& w : node.windows) {
    EXPECT_FLOAT_EQ(w.figures.cpu_mean_cores, 0.5);
    EXPECT_FLOAT_EQ(Seconds(w), 300);
  }
}

TEST(TaskMeter, AbsentStaysAbsent) {
  Node node;
  node.At(0, Reading(0));
  node.At(1, Reading(100'000));
  node.At(400, Reading(std::nullopt, 50));
  EXPECT_EQ(node.meter.cpu_cores(), std::nullopt);
  node.At(401, Reading(std::nullopt, 50));
  ASSERT_EQ(node.All().size(), 2U);
  EXPECT_EQ(node.windows[0].figures.memory_mean_bytes, kAbsent);
  EXPECT_EQ(node.windows[0].figures.memory_peak_bytes, kAbsent);
  EXPECT_EQ(node.windows[0].cpu_periods, std::nullopt);
  EXPECT_EQ(node.windows[1].figures.cpu_mean_cores, kAbsent);
  EXPECT_EQ(node.windows[1].figures.cpu_peak_cores, kAbsent);
  EXPECT_TRUE(node.windows[1].cpu_buckets.empty());
  EXPECT_EQ(node.windows[1].figures.memory_peak_bytes, 50.0F);
  EXPECT_EQ(node.meter.counts().resets, 0U);
}

TEST(TaskMeter, UsageThatWasMissedOnceIsOfTheWholeTime) {
  Node node;
  node.At(0, Reading(0, 10));
  node.At(1, Reading(std::nullopt, 10));
  node.At(2, Reading(1'000'000, 10));
  EXPECT_EQ(node.meter.cpu_cores(), 0.5);
  ASSERT_EQ(node.All().size(), 1U);
  EXPECT_FLOAT_EQ(Seconds(node.windows[0]), 2);
}

TEST(TaskMeter, ChargedMemoryWhereTheWorkingSetIsNotSaid) {
  Node node;
  TaskReading reading;
  reading.memory_bytes = 700;
  node.At(0, reading);
  node.At(1, reading);
  EXPECT_EQ(node.meter.memory_bytes(), 700.0);
  reading.memory_working_set_bytes = 300;
  node.At(2, reading);
  ASSERT_EQ(node.All().size(), 1U);
  EXPECT_EQ(node.windows[0].figures.memory_peak_bytes, 700.0F);
  EXPECT_EQ(node.windows[0].figures.memory_mean_bytes, 500.0F);
}

TEST(TaskMeter, CounterThatFellCountsFromZero) {
  Node node;
  node.At(0, Reading(9'000'000));
  node.At(1, Reading(250'000));
  EXPECT_EQ(node.meter.cpu_cores(), 0.25);
  EXPECT_EQ(node.meter.counts().resets, 1U);
}

TEST(TaskMeter, NoRateOverAGap) {
  Node node;
  node.At(0, Reading(0, 10));
  node.At(1, Reading(100'000, 10));
  node.At(16.5, Reading(9'000'000, 1000));
  EXPECT_EQ(node.meter.cpu_cores(), std::nullopt);
  EXPECT_EQ(node.meter.counts().gaps, 1U);
  node.At(17.5, Reading(9'300'000, 10));
  ASSERT_EQ(node.All().size(), 1U);
  EXPECT_FLOAT_EQ(Seconds(node.windows[0]), 2);
  EXPECT_FLOAT_EQ(node.windows[0].figures.cpu_mean_cores, 0.2F);
  EXPECT_EQ(node.windows[0].figures.memory_peak_bytes, 10.0F);
}

TEST(TaskMeter, ImplausibleRateIsNone) {
  Node node;
  node.At(0, Reading(0));
  node.At(1, Reading(uint64_t{1'048'577} * 1000));
  EXPECT_EQ(node.meter.cpu_cores(), std::nullopt);
  EXPECT_EQ(node.meter.counts().implausible, 1U);
  EXPECT_TRUE(node.All().empty());
}

TEST(TaskMeter, ShortPieceWaitsForTheNext) {
  Node node;
  node.At(0, Reading(0, 10));
  node.At(1, Reading(100'000, 10));
  node.At(1.0001, Reading(104'000, 99));  // one tick of the kernel, which would be 40 cores
  EXPECT_EQ(node.meter.memory_bytes(), 99.0);
  EXPECT_EQ(node.meter.cpu_cores(), 0.1);
  node.At(2, Reading(200'000, 10));
  ASSERT_EQ(node.All().size(), 1U);
  EXPECT_FLOAT_EQ(node.windows[0].figures.cpu_peak_cores, 0.1F);
  EXPECT_FLOAT_EQ(Seconds(node.windows[0]), 2);
}

TEST(TaskMeter, JumpAheadCountsInTheNewWindow) {
  Node node;
  node.At(0, Reading(0));
  node.At(1, Reading(1'000'000));
  node.AtNode(2, Timestamp{kStart + 3000 * kMicrosPerSecond}, Reading(1'500'000));
  EXPECT_EQ(node.meter.counts().jumps, 1U);
  node.AtNode(3, Timestamp{kStart + 3001 * kMicrosPerSecond}, Reading(2'000'000));
  EXPECT_EQ(node.meter.counts().jumps, 1U);
  ASSERT_EQ(node.All().size(), 2U);
  EXPECT_EQ(node.windows[0].window, kFirst);
  EXPECT_FLOAT_EQ(Seconds(node.windows[0]), 1);
  EXPECT_EQ(node.windows[1].window.index, kFirst.index + 10);
  EXPECT_FLOAT_EQ(Seconds(node.windows[1]), 2);
}

TEST(TaskMeter, JumpBackCountsNowhereUntilItIsPastAgain) {
  Node node;
  node.At(300, Reading(0));
  node.At(301, Reading(1'000'000));
  for (int s = 0; s < 100; ++s) {  // back into the previous window
    node.AtNode(302 + s, Timestamp{kStart + (250 + s) * kMicrosPerSecond}, Reading(2'000'000));
  }
  EXPECT_EQ(node.meter.counts().jumps, 1U);
  EXPECT_TRUE(node.windows.empty());
  ASSERT_EQ(node.All().size(), 1U);
  EXPECT_EQ(node.windows[0].window, kFirst.next());
  EXPECT_FLOAT_EQ(Seconds(node.windows[0]), 1 + 49);  // the seconds 300 .. 349 passed twice
}

TEST(TaskMeter, JumpBackWithinAWindowKeepsItsLength) {
  Node node;
  node.At(200, Reading(0));
  node.At(201, Reading(1'000'000));
  node.AtNode(202, Timestamp{kStart + 50 * kMicrosPerSecond}, Reading(2'000'000));
  ASSERT_EQ(node.All().size(), 1U);
  EXPECT_FLOAT_EQ(Seconds(node.windows[0]), 2);
}

TEST(TaskMeter, WindowOfATaskThatIsNoLongerReadIsHandedOut) {
  Node node;
  node.At(298, Reading(0));
  node.At(299, Reading(1'000'000));
  node.meter.CloseUntil(Timestamp{kStart + 310 * kMicrosPerSecond}, node.windows);
  EXPECT_TRUE(node.windows.empty());  // the next reading may still belong to 299 .. 300
  node.meter.CloseUntil(Timestamp{kStart + 317 * kMicrosPerSecond}, node.windows);
  EXPECT_EQ(node.windows.size(), 1U);
  EXPECT_EQ(node.All().size(), 1U);
}

TEST(TaskMeter, ThrottledPeriodsPerWindow) {
  Node node;
  TaskReading reading = Reading(0);
  reading.cpu_periods = 1000;
  reading.cpu_throttled_periods = 50;
  node.At(290, reading);
  reading.cpu_periods = 1100;
  reading.cpu_throttled_periods = 61;
  reading.cpu_usage_us = 1;
  node.At(300, reading);
  node.At(301, Reading(2));
  node.At(311, Reading(3));
  reading.cpu_periods = 1310;
  reading.cpu_throttled_periods = 61;
  reading.cpu_usage_us = 4;
  node.At(321, reading);  // later than max_gap_us, so it has no rate
  ASSERT_EQ(node.All().size(), 2U);
  EXPECT_EQ(node.windows[0].cpu_periods, 100U);
  EXPECT_EQ(node.windows[0].cpu_throttled_periods, 11U);
  EXPECT_EQ(node.windows[1].cpu_periods, 210U);
  EXPECT_EQ(node.windows[1].cpu_throttled_periods, 0U);
}

TEST(TaskMeter, ThrottledPeriodsOfAWindowThatIsOverGoToTheNext) {
  Node node;
  TaskReading reading = Reading(0);
  reading.cpu_periods = 0;
  node.At(295, reading);
  node.At(301, Reading(1));
  ASSERT_EQ(node.windows.size(), 1U);
  EXPECT_EQ(node.windows[0].cpu_periods, std::nullopt);
  reading.cpu_periods = 100;
  reading.cpu_usage_us = 2;
  node.At(305, reading);
  ASSERT_EQ(node.All().size(), 2U);
  EXPECT_EQ(node.windows[1].cpu_periods, 100U);
}

TEST(TaskMeter, Small) {
  Node node;
  for (int s = 0; s < 299; ++s) node.At(s, Reading(static_cast<uint64_t>(s) * 300'000, 1000));
  EXPECT_LE(node.meter.state_bytes(), 600U);
}

TEST(TaskMeter, AnIdleTaskUsesNothing) {
  Node node;
  node.At(0, Reading(5'000'000));
  node.At(1, Reading(5'000'000));
  EXPECT_EQ(node.meter.cpu_cores(), 0.0);
  EXPECT_EQ(node.meter.counts().resets, 0U);
}

TEST(TaskMeter, LimitsOfGapRateAndPieceAreAllowedThemselves) {
  Node node;
  node.At(0, Reading(0));
  node.At(15, Reading(1'500'000));  // exactly max_gap
  EXPECT_EQ(node.meter.cpu_cores(), 0.1);
  EXPECT_EQ(node.meter.counts().gaps, 0U);
  node.At(15.1, Reading(1'600'000));  // exactly min_gap
  EXPECT_EQ(node.meter.cpu_cores(), 1.0);
  node.At(16.1, Reading(1'600'000 + uint64_t{1'048'576} * 1000));  // exactly max_cores
  EXPECT_EQ(node.meter.cpu_cores(), 1048.576);
  EXPECT_EQ(node.meter.counts().implausible, 0U);
}

TEST(TaskMeter, GapOfATaskWithoutCpuIsCounted) {
  Node node;
  node.At(0, Reading(std::nullopt, 10));
  node.At(16, Reading(std::nullopt, 10));
  EXPECT_EQ(node.meter.counts().gaps, 1U);
}

// If the clocks differ by up to 2 s, node time determines how an interval is split.
TEST(TaskMeter, ClocksThatGoApartALittleAreNoJump) {
  Node node;
  node.At(297, Reading(0));
  node.AtNode(298, Timestamp{kStart + 300 * kMicrosPerSecond}, Reading(1'000'000));
  EXPECT_EQ(node.meter.counts().jumps, 0U);
  node.AtNode(299, Timestamp{kStart + 302'500'000}, Reading(2'000'000));
  EXPECT_EQ(node.meter.counts().jumps, 0U);
  ASSERT_EQ(node.All().size(), 2U);
  EXPECT_FLOAT_EQ(Seconds(node.windows[0]), 1);
  EXPECT_FLOAT_EQ(Seconds(node.windows[1]), 1);
  Node jumped;
  jumped.At(297, Reading(0));
  jumped.AtNode(298, Timestamp{kStart + 300'100'000}, Reading(1'000'000));
  EXPECT_EQ(jumped.meter.counts().jumps, 1U);
}

TEST(TaskMeter, NodeTimeThatStandsStillLosesNothing) {
  Node node;
  node.At(10, Reading(0));
  node.AtNode(11, Timestamp{kStart + 10 * kMicrosPerSecond}, Reading(500'000));
  ASSERT_EQ(node.All().size(), 1U);
  EXPECT_FLOAT_EQ(Seconds(node.windows[0]), 1);
}

TEST(TaskMeter, ReadingAtTheBorderOpensNoWindow) {
  Node node;
  TaskReading reading = Reading(0);
  reading.cpu_periods = 0;
  node.At(299, reading);
  reading = Reading(100'000);
  reading.cpu_periods = 10;
  node.At(300, reading);
  EXPECT_EQ(node.windows.size(), 1U);
  EXPECT_EQ(node.meter.oldest_open(), std::nullopt);
}

TEST(TaskMeter, WindowEndsWhenTheNextReadingIsTooLate) {
  const auto handed_out = [](double read_s, int64_t close_s) {
    Node node;
    node.At(read_s - 1, Reading(0));
    node.At(read_s, Reading(1'000'000));
    node.meter.CloseUntil(Timestamp{kStart + close_s * kMicrosPerSecond}, node.windows);
    return node.windows.size();
  };
  EXPECT_EQ(handed_out(299, 316), 0U);  // 15 s of max_gap, and 2 s for clocks that differ
  EXPECT_EQ(handed_out(299, 317), 1U);
  EXPECT_EQ(handed_out(280, 299), 0U);
  EXPECT_EQ(handed_out(280, 300), 1U);
}

TEST(TaskMeter, ThrottledPeriodsAreSplitAtTheBorder) {
  Node node;
  TaskReading reading = Reading(0);
  reading.cpu_periods = 0;
  node.At(299, reading);
  reading = Reading(1);
  reading.cpu_periods = 100;
  node.At(303, reading);
  ASSERT_EQ(node.All().size(), 2U);
  EXPECT_EQ(node.windows[0].cpu_periods, 25U);
  EXPECT_EQ(node.windows[1].cpu_periods, 75U);
}

// The test reads usage at every step, but periods only at the start and the end.
TEST(TaskMeter, ThrottledPeriodsOlderThanAWindowAreOfNone) {
  const auto periods = [](int seconds) {
    Node node;
    for (int s = 0; s <= seconds; s += 10) {
      TaskReading reading = Reading(static_cast<uint64_t>(s));
      if (s == 0) reading.cpu_periods = 0;
      if (s == seconds) reading.cpu_periods = 300;
      node.At(s, reading);
    }
    uint64_t sum = 0;
    for (const NodeWindow& w : node.All()) sum += w.cpu_periods.value_or(0);
    return sum;
  };
  EXPECT_EQ(periods(290), 300U);
  EXPECT_EQ(periods(300), 300U);
  EXPECT_EQ(periods(310), 0U);
}

TEST(TaskMeter, ThrottledPeriodsAfterAJumpBackCountNowhere) {
  Node node;
  TaskReading reading = Reading(0);
  reading.cpu_periods = 0;
  node.At(300, reading);
  reading = Reading(1);
  reading.cpu_periods = 10;
  node.At(301, reading);
  reading = Reading(2);
  reading.cpu_periods = 20;
  node.AtNode(302, Timestamp{kStart + 250 * kMicrosPerSecond}, reading);
  ASSERT_EQ(node.All().size(), 1U);
  EXPECT_EQ(node.windows[0].cpu_periods, 10U);
}

TEST(TaskMeter, StateIsTheOpenWindowsAndTheirBuckets) {
  Node node;
  const size_t empty = node.meter.state_bytes();
  EXPECT_EQ(empty, sizeof(TaskMeter));
  node.At(0, Reading(0));
  node.At(1, Reading(100'000));
  const size_t open = node.meter.state_bytes();
  for (int s = 2; s < 12; ++s) node.At(s, Reading(static_cast<uint64_t>(s * s) * 100'000));
  EXPECT_GT(node.meter.state_bytes(), open + 9 * sizeof(BucketWeight));
  Node closed;
  closed.At(0, Reading(0));
  closed.At(1, Reading(100'000));
  closed.All();
  // The window's slot is kept without its buckets.
  EXPECT_GT(closed.meter.state_bytes(), empty + 100);
  EXPECT_GT(open, closed.meter.state_bytes());
  EXPECT_LE(open, closed.meter.state_bytes() + 8 * sizeof(BucketWeight));
}

// One step of a node: both clocks, usage, absent fields.
struct Step {
  int64_t steady_us = 0, jump_us = 0;
  uint64_t used_us = 0, memory = 0;
  bool has_cpu = true, has_memory = true, resets = false;
};

rc::Gen<Step> AnyStep() {
  return rc::gen::map(
      rc::gen::tuple(
          rc::gen::weightedOneOf<int64_t>({{12, rc::gen::inRange<int64_t>(150'000, 14'000'000)},
                                           {1, rc::gen::inRange<int64_t>(0, 150'000)},
                                           {1, rc::gen::inRange<int64_t>(14'000'000, 900'000'000)}}),
          rc::gen::weightedOneOf<int64_t>(
              {{12, rc::gen::inRange<int64_t>(-400'000, 400'000)},
               {1, rc::gen::inRange<int64_t>(-1'000 * kMicrosPerSecond, 1'000 * kMicrosPerSecond)}}),
          rc::gen::inRange<uint64_t>(0, 20'000'000), rc::gen::inRange<uint64_t>(0, 1 << 30),
          rc::gen::inRange(0, 60)),
      [](const std::tuple<int64_t, int64_t, uint64_t, uint64_t, int>& t) {
        Step step;
        step.steady_us = std::get<0>(t);
        step.jump_us = std::get<1>(t);
        step.used_us = std::get<2>(t);
        step.memory = std::get<3>(t);
        const int odd = std::get<4>(t);
        step.has_cpu = odd % 9 != 1;
        step.has_memory = odd % 11 != 1;
        step.resets = odd % 17 == 2;
        return step;
      });
}

struct Reads {
  std::vector<TaskReading> readings;
  std::vector<int64_t> steady_us;
  std::vector<Timestamp> at;
};

Reads Unroll(const std::vector<Step>& steps, double speed) {
  Reads out;
  int64_t steady_us = 7'000'000;
  Timestamp at{kStart};
  uint64_t usage = 1'000'000;
  for (const Step& step : steps) {
    steady_us += step.steady_us;
    at.us += std::llround(static_cast<double>(step.steady_us) * speed) + step.jump_us;
    usage = step.resets ? step.used_us : usage + step.used_us;
    TaskReading reading;
    if (step.has_cpu) reading.cpu_usage_us = usage;
    if (step.has_memory) reading.memory_bytes = step.memory;
    reading.cpu_periods = usage / 1000;
    out.readings.push_back(reading);
    out.steady_us.push_back(steady_us);
    out.at.push_back(at);
  }
  return out;
}

void ExpectSame(const std::vector<NodeWindow>& a, const std::vector<NodeWindow>& b) {
  RC_ASSERT(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    RC_ASSERT(a[i].window == b[i].window);
    RC_ASSERT(a[i].figures.cpu_mean_cores == b[i].figures.cpu_mean_cores);
    RC_ASSERT(a[i].figures.cpu_peak_cores == b[i].figures.cpu_peak_cores);
    RC_ASSERT(a[i].figures.memory_mean_bytes == b[i].figures.memory_mean_bytes);
    RC_ASSERT(a[i].figures.memory_peak_bytes == b[i].figures.memory_peak_bytes);
    RC_ASSERT(a[i].cpu_periods == b[i].cpu_periods);
    RC_ASSERT(a[i].cpu_buckets.size() == b[i].cpu_buckets.size());
    for (size_t k = 0; k < a[i].cpu_buckets.size(); ++k) {
      RC_ASSERT(a[i].cpu_buckets[k].bucket == b[i].cpu_buckets[k].bucket);
      RC_ASSERT(a[i].cpu_buckets[k].weight == b[i].cpu_buckets[k].weight);
    }
  }
}

// For any steps: windows ascend, none is repeated, the mean is at most the peak, and the windows do not depend on
// the times at which CloseUntil is called.
RC_GTEST_PROP(TaskMeter, WindowsAreTheSameHoweverTheyAreFetched, ()) {
  MeterOptions options;
  options.speed = *rc::gen::element(1.0, 20.0, 500.0);
  const Reads reads = Unroll(*rc::gen::container<std::vector<Step>>(AnyStep()), options.speed);
  std::vector<NodeWindow> each, before, seldom, once;
  TaskMeter meter_each(options), meter_before(options), meter_seldom(options), meter_once(options);
  for (size_t i = 0; i < reads.at.size(); ++i) {
    meter_each.Add(reads.readings[i], reads.steady_us[i], reads.at[i]);
    meter_each.CloseUntil(reads.at[i], each);
    meter_before.CloseUntil(reads.at[i], before);
    meter_before.Add(reads.readings[i], reads.steady_us[i], reads.at[i]);
    meter_seldom.Add(reads.readings[i], reads.steady_us[i], reads.at[i]);
    if (i % 7 == 3) meter_seldom.CloseUntil(reads.at[i], seldom);
    meter_once.Add(reads.readings[i], reads.steady_us[i], reads.at[i]);
  }
  meter_each.CloseAll(each);
  meter_before.CloseAll(before);
  meter_seldom.CloseAll(seldom);
  meter_once.CloseAll(once);
  ExpectSame(each, before);
  ExpectSame(each, seldom);
  ExpectSame(each, once);
  for (size_t i = 0; i < each.size(); ++i) {
    if (i > 0) RC_ASSERT(each[i - 1].window < each[i].window);
    const TaskWindow& f = each[i].figures;
    RC_ASSERT((f.cpu_mean_cores < 0) == (f.cpu_peak_cores < 0));
    RC_ASSERT((f.memory_mean_bytes < 0) == (f.memory_peak_bytes < 0));
    RC_ASSERT(f.cpu_mean_cores >= 0 || f.memory_mean_bytes >= 0);
    RC_ASSERT(f.cpu_mean_cores <= f.cpu_peak_cores + 0.00001F * std::abs(f.cpu_peak_cores));
    RC_ASSERT(f.memory_mean_bytes <= f.memory_peak_bytes + 0.00001F * std::abs(f.memory_peak_bytes));
    RC_ASSERT(each[i].cpu_buckets.empty() == (f.cpu_mean_cores < 0));
  }
}

// Without jumps, gaps and losses, each window's seconds are the time between readings in the window. The product
// of the mean and these seconds is the increase of the counter.
RC_GTEST_PROP(TaskMeter, NothingIsLostOrMadeUp, ()) {
  MeterOptions options;
  options.speed = *rc::gen::element(1.0, 30.0, 900.0);
  const auto steps = *rc::gen::container<std::vector<Step>>(
      rc::gen::map(rc::gen::pair(rc::gen::inRange<int64_t>(150'000, 14'000'000),
                                 rc::gen::inRange<uint64_t>(0, 20'000'000)),
                   [](const std::pair<int64_t, uint64_t>& p) {
                     Step step;
                     step.steady_us = p.first;
                     step.used_us = p.second;
                     return step;
                   }));
  const Reads reads = Unroll(steps, options.speed);
  TaskMeter meter(options);
  std::vector<NodeWindow> windows;
  std::map<int32_t, double> seconds;  // computed by splitting each interval at the borders
  double used = 0;
  uint64_t periods = 0;
  for (size_t i = 0; i < reads.at.size(); ++i) {
    meter.Add(reads.readings[i], reads.steady_us[i], reads.at[i]);
    meter.CloseUntil(reads.at[i], windows);
    if (i == 0) continue;
    for (int64_t us = reads.at[i - 1].us; us < reads.at[i].us;) {
      const WindowId w = WindowId::Of({us});
      const int64_t end = std::min(reads.at[i].us, w.next().start_s() * kMicrosPerSecond);
      seconds[w.index] += static_cast<double>(end - us) / kMicrosPerSecond;
      us = end;
    }
    used += static_cast<double>(*reads.readings[i].cpu_usage_us - *reads.readings[i - 1].cpu_usage_us) / 1e6;
    periods += *reads.readings[i].cpu_periods - *reads.readings[i - 1].cpu_periods;
  }
  meter.CloseAll(windows);
  double sum = 0;
  for (const NodeWindow& w : windows) {
    RC_ASSERT(std::abs(Seconds(w) - seconds[w.window.index]) <= 0.001 * (1 + seconds[w.window.index]));
    sum += double{w.figures.cpu_mean_cores} * Seconds(w) / options.speed;
    periods -= w.cpu_periods.value_or(0);
  }
  RC_ASSERT(std::abs(sum - used) <= 0.001 * (1 + used));
  RC_ASSERT(windows.size() == seconds.size());
  RC_ASSERT(periods == 0U);
  RC_ASSERT(meter.counts().jumps + meter.counts().gaps + meter.counts().resets == 0U);
}

}  // namespace
}  // namespace taut::node
