// Tests the signals of a job-day against a direct computation from the same day.
#include "brain/fleet/signal_builder.h"

#include <algorithm>
#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

JobDay AnyDay() {
  JobDay day;
  day.day = *rc::gen::inRange(0, 100);
  const int windows = *rc::gen::inRange(0, 20);
  for (int i = 0; i < windows; ++i) {
    JobWindow w;
    w.window = WindowId{day.day * kWindowsPerDay + 2 * i};
    w.first_task = static_cast<uint32_t>(day.tasks.size());
    w.first_bucket = static_cast<uint32_t>(day.cpu_buckets.size());
    const auto value = [&](double scale) {
      return *rc::gen::inRange(0, 4) == 0 ? kAbsent : static_cast<float>(scale * *rc::gen::inRange(0, 1000));
    };
    w.num_tasks = *rc::gen::inRange<uint32_t>(0, 6);
    bool cpu = false;
    for (uint32_t t = 0; t < w.num_tasks; ++t) {
      TaskWindow task;
      task.task = 2 * t;
      task.cpu_mean_cores = value(0.01);
      task.cpu_peak_cores = task.cpu_mean_cores < 0 ? kAbsent : 2 * task.cpu_mean_cores;
      task.memory_mean_bytes = value(1e7);
      task.memory_peak_bytes = task.memory_mean_bytes < 0 ? kAbsent : 1.5F * task.memory_mean_bytes;
      cpu = cpu || task.cpu_mean_cores >= 0;
      day.tasks.push_back(task);
    }
    for (Bucket b = 0; cpu && b < 4; ++b) {
      day.cpu_buckets.push_back(
          {static_cast<Bucket>(40 * b + i), static_cast<float>(*rc::gen::inRange(1, 300))});
      ++w.num_buckets;
    }
    w.cpu_limit_cores = value(0.01);
    w.memory_limit_bytes = value(1e7);
    day.windows.push_back(w);
  }
  return day;
}

void CheckWindow(const JobDay& day, const JobWindow& w, Resource resource, const Signal& s) {
  const bool cpu = resource == Resource::kCpu;
  std::vector<float> means;
  float peak = 0;
  std::map<Bucket, double> buckets;
  for (uint32_t i = 0; i < w.num_tasks; ++i) {
    const TaskWindow& t = day.tasks[w.first_task + i];
    const float mean = cpu ? t.cpu_mean_cores : t.memory_mean_bytes;
    if (mean < 0) continue;
    means.push_back(mean);
    // A CPU limit is compared with the mean of a window (tools/sim/scorecard.h).
    const float held = cpu ? t.cpu_mean_cores : t.memory_peak_bytes;
    peak = std::max(peak, held);
    if (!cpu) buckets[Grid::Memory().BucketOf(held)] += 1;
  }
  for (uint32_t i = 0; cpu && i < w.num_buckets; ++i) {
    buckets[day.cpu_buckets[w.first_bucket + i].bucket] += double{day.cpu_buckets[w.first_bucket + i].weight};
  }
  RC_ASSERT(s.tasks.size() == means.size());
  for (size_t i = 0; i < means.size(); ++i) RC_ASSERT(s.tasks[i].mean == means[i]);
  RC_ASSERT(s.peak == double{peak});
  RC_ASSERT(s.buckets.size() == buckets.size());
  double weight = 0, sum = 0;
  size_t at = 0;
  for (const auto& [b, n] : buckets) {
    RC_ASSERT(s.buckets[at].bucket == b);
    RC_ASSERT(double{s.buckets[at++].weight} == n);
    weight += n;
    sum += n * GridOf(resource).UpperBound(b);
  }
  RC_ASSERT(s.weight == weight);
  RC_ASSERT(std::abs(s.mean - sum / weight) <= 1e-12 * s.mean);
  const float owner = cpu ? w.cpu_limit_cores : w.memory_limit_bytes;
  RC_ASSERT(s.owner_limit == (owner >= 0 ? std::optional<double>(owner) : std::nullopt));
}

RC_GTEST_PROP(DaySignals, AreTheDaysMeasuredWindows, ()) {
  DaySignals signals;
  // The second round uses the same object and checks that no data of the first day remains.
  for (int round = 0; round < 2; ++round) {
    const JobDay day = AnyDay();
    for (Resource r : kResources) {
      signals.Build(day, r);
      size_t at = 0;
      for (const JobWindow& w : day.windows) {
        const auto first = day.tasks.begin() + w.first_task;
        const bool measured = std::any_of(first, first + w.num_tasks, [&](const TaskWindow& t) {
          return (r == Resource::kCpu ? t.cpu_mean_cores : t.memory_mean_bytes) >= 0;
        });
        if (!measured) continue;
        RC_ASSERT(at < signals.signals().size());
        RC_ASSERT(signals.signals()[at].window == w.window);
        CheckWindow(day, w, r, signals.signals()[at++]);
      }
      RC_ASSERT(at == signals.signals().size());
      RC_ASSERT(signals.empty() == (at == 0));
    }
  }
}

// Returns a window of two tasks; the second task lacks some values.
JobDay OneWindow() {
  JobDay day;
  day.tasks = {{.task = 0,
                .cpu_mean_cores = 1.5F,
                .cpu_peak_cores = 2,
                .memory_mean_bytes = 100,
                .memory_peak_bytes = 120},
               {.task = 1, .cpu_mean_cores = 0.25F, .cpu_peak_cores = 0.5F}};
  JobWindow w;
  w.window = WindowId{3};
  w.num_tasks = 2;
  day.windows.push_back(w);
  return day;
}

Signal Built(const JobDay& day, Resource r) {
  static DaySignals signals;
  signals.Build(day, r);
  return signals.signals().size() == 1 ? signals.signals()[0] : Signal();
}

TEST(DaySignals, SayWhatAllTasksUsedOfBothResources) {
  for (const Resource r : kResources) {
    const Signal s = Built(OneWindow(), r);
    EXPECT_EQ(s.together(Resource::kCpu), 1.75);
    EXPECT_EQ(s.together(Resource::kMemory), 100);
  }
  JobDay idle = OneWindow();
  idle.tasks = {{.task = 0, .cpu_mean_cores = 0, .cpu_peak_cores = 0},
                {.task = 1, .cpu_mean_cores = 0, .cpu_peak_cores = 0}};
  EXPECT_EQ(Built(idle, Resource::kCpu).together(Resource::kCpu), 0) << "measured, and nothing was used";
  EXPECT_FALSE(Built(idle, Resource::kCpu).together(Resource::kMemory).has_value());
  idle.tasks = {{.task = 0, .memory_mean_bytes = 0, .memory_peak_bytes = 0},
                {.task = 1, .memory_mean_bytes = 0, .memory_peak_bytes = 0}};
  EXPECT_EQ(Built(idle, Resource::kMemory).together(Resource::kMemory), 0);
  EXPECT_FALSE(Built(idle, Resource::kMemory).together(Resource::kCpu).has_value());
}

TEST(DaySignals, ATaskWithoutItsMeanOrItsPeakIsLeftOut) {
  JobDay day = OneWindow();
  day.tasks[1] = {.task = 1, .memory_peak_bytes = 300};
  EXPECT_THAT(Built(day, Resource::kMemory).tasks, ::testing::SizeIs(1));
  day.tasks[1] = {.task = 1, .memory_mean_bytes = 300};
  EXPECT_THAT(Built(day, Resource::kMemory).tasks, ::testing::SizeIs(1));
}

// A value of 0 is known and differs from an absent value.
TEST(DaySignals, OwnersLimitsLoadAndThrottlingAreThoseOfTheWindow) {
  JobDay day = OneWindow();
  day.signals = {{"other", 1}, {"depth", 5}, {"rate", 0}, {"more", 2}};
  JobWindow& w = day.windows[0];
  for (const Resource r : kResources) {
    const Signal none = Built(day, r);
    for (const auto& absent :
         {none.owner_limit, none.owner_limit_sum, none.load, none.owner_limits[kCpuIndex],
          none.owner_limits[kMemoryIndex], none.throttled, none.cut_at, none.limit}) {
      EXPECT_FALSE(absent.has_value());
    }
    EXPECT_TRUE(none.named.empty());
  }
  w.cpu_limit_cores = w.memory_limit_bytes = w.cpu_limit_sum_cores = w.memory_limit_sum_bytes = 0;
  w.load = w.cpu_throttled = 0;
  w.first_signal = 1;
  w.num_signals = 2;
  for (const Resource r : kResources) {
    const Signal zero = Built(day, r);
    for (const auto& known : {zero.owner_limit, zero.owner_limit_sum, zero.load, zero.owner_limits[kCpuIndex],
                              zero.owner_limits[kMemoryIndex]}) {
      EXPECT_EQ(known, 0);
    }
    EXPECT_EQ(zero.throttled, r == Resource::kCpu ? std::optional(0.0) : std::nullopt);
    ASSERT_EQ(zero.named.size(), 2U);
    EXPECT_EQ(zero.named[0].name, "depth");
  }
  w.cpu_limit_cores = 4;
  w.memory_limit_bytes = 500;
  w.cpu_limit_sum_cores = 6;
  w.memory_limit_sum_bytes = 900;
  w.load = 7;
  w.cpu_throttled = 0.5F;
  for (const Resource r : kResources) {
    const Signal s = Built(day, r);
    const bool cpu = r == Resource::kCpu;
    EXPECT_EQ(s.owner_limit, cpu ? 4 : 500);
    EXPECT_EQ(s.owner_limit_sum, cpu ? 6 : 900);
    EXPECT_EQ(s.owner_limits[kCpuIndex], 4);
    EXPECT_EQ(s.owner_limits[kMemoryIndex], 500);
    EXPECT_EQ(s.load, 7);
    EXPECT_EQ(s.throttled, cpu ? std::optional(0.5) : std::nullopt) << "of CPU alone";
  }
}

// Returns a day with one window, in which each task has a memory peak of 1 GB. `needed`: probed needs of the
// tasks; negative: unknown.
JobDay Probed(const std::vector<float>& needed) {
  JobDay day;
  for (const float n : needed)
    day.tasks.push_back({.task = static_cast<uint32_t>(day.tasks.size()),
                         .memory_mean_bytes = 9e8F,
                         .memory_peak_bytes = 1e9F,
                         .memory_needed_bytes = n});
  day.windows.push_back({.window = WindowId{3}, .num_tasks = static_cast<uint32_t>(needed.size())});
  return day;
}

TEST(DaySignals, OfTheProbeATaskIsWhatItNeedsIfThatIsKnownAndLess) {
  DaySignals signals;
  const JobDay day = Probed({4e8F, kAbsent, 0.95e9F, 8.5e8F});
  signals.Build(day, Resource::kMemory, MemorySignal::kProbe);
  const Signal& s = signals.signals()[0];
  ASSERT_EQ(s.tasks.size(), 4U);
  EXPECT_FLOAT_EQ(s.tasks[0].peak, 4.4e8F);
  EXPECT_FLOAT_EQ(s.tasks[0].mean, 4.4e8F);
  EXPECT_EQ(s.tasks[1].peak, 1e9F) << "another task's need is not its own";
  EXPECT_EQ(s.tasks[2].peak, 1e9F) << "with its margin it is above the usage";
  EXPECT_FLOAT_EQ(s.tasks[3].peak, 9.35e8F);
  EXPECT_EQ(s.tasks[3].mean, 9e8F);
  EXPECT_EQ(s.peak, 1e9);
  EXPECT_EQ(s.usage_peak, 1e9);
  EXPECT_FLOAT_EQ(static_cast<float>(*s.together(Resource::kMemory)), 3.6e9F) << "what they used";
  double weight = 0;
  for (const BucketWeight& b : s.buckets) weight += b.weight;
  EXPECT_EQ(weight, 4);
  EXPECT_EQ(s.buckets.front().bucket, Grid::Memory().BucketOf(4.4e8F));
  // The memory signal is the usage if no need is known, and without MemorySignal::kProbe.
  signals.Build(Probed({kAbsent, kAbsent}), Resource::kMemory, MemorySignal::kProbe);
  EXPECT_EQ(signals.signals()[0].peak, 1e9);
  EXPECT_EQ(signals.signals()[0].usage_peak, std::nullopt);
  signals.Build(day, Resource::kMemory);
  EXPECT_EQ(signals.signals()[0].tasks[0].peak, 1e9F);
  EXPECT_EQ(signals.signals()[0].usage_peak, std::nullopt);
}

}  // namespace
}  // namespace taut::brain
