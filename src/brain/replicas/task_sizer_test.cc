// Tests of the decisions on a job's size over weeks of windows.
#include "brain/replicas/task_sizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/base/byte_units.h"

namespace taut::brain {
namespace {

using testing::HasSubstr;

// Observes windows of a job with tasks of 4 cores and a daily load between 2 and 8.4 cores.
void Feed(TaskSizer& sizer, int first, int last, double size = 4) {
  for (int w = first; w < last; ++w) {
    const double load = 5.2 - 3.2 * std::cos(w * 2 * M_PI / kWindowsPerDay);
    const int tasks = static_cast<int>(std::ceil(load / (0.7 * size)));
    const auto each = static_cast<float>(load / tasks);
    std::vector<TaskUsage> cpu, memory;
    for (int t = 0; t < tasks; ++t) {
      cpu.push_back({static_cast<uint32_t>(t), each, each});
      const auto bytes = static_cast<float>((0.5 + 0.25 * each) * kGiB);
      memory.push_back({static_cast<uint32_t>(t), bytes, bytes});
    }
    sizer.ObserveMemory(
        {.window = WindowId{w}, .buckets = {}, .tasks = memory, .owner_limit = {}, .used_together = {load}},
        2.0 * kGiB);
    sizer.ObserveCpu({.window = WindowId{w}, .buckets = {}, .tasks = cpu, .owner_limit = size}, size);
  }
}

TaskSizer NewSizer() { return {SizingSettings(), ReplicaBounds(), 0.7}; }

std::string Saved(const TaskSizer& sizer) {
  std::string bytes;
  ByteWriter out(&bytes);
  sizer.Save(out);
  return bytes;
}

TEST(TaskSizer, WaitsForADayAndThenSays) {
  TaskSizer sizer = NewSizer();
  Feed(sizer, 0, 200);
  EXPECT_FALSE(sizer.cores().has_value());
  Reason young;
  sizer.Explain(young);
  EXPECT_THAT(young.sentence, HasSubstr("after 24 measured hours"));
  Feed(sizer, 200, 300);
  ASSERT_TRUE(sizer.cores().has_value());
  EXPECT_LT(*sizer.cores(), 4);
  Reason reason;
  sizer.Explain(reason);
  EXPECT_THAT(reason.sentence, HasSubstr("at the peak of 8.40 cores"));
}

// The cost of each size includes the additional tasks that the risk target requires.
TEST(TaskSizer, AnOrderedRiskIsPricedByTheTasksThatItAsksFor) {
  const auto weighed = [](double spare) {
    TaskSizer sizer = NewSizer();
    for (int w = 0; w < 600; ++w) {
      Feed(sizer, w, w + 1);
      const double load = 5.2 - 3.2 * std::cos(w * 2 * M_PI / kWindowsPerDay);
      if (spare > 0) sizer.ObserveOrder(static_cast<int>(std::ceil(load * spare / (0.7 * 0.25))), 0.25);
    }
    return sizer;
  };
  const TaskSizer plain = weighed(0), strict = weighed(1.6), loose = weighed(0.9);
  EXPECT_EQ(plain.filled(), 0.7);
  EXPECT_NEAR(strict.filled(), 0.7 / 1.6, 0.03);
  EXPECT_NEAR(loose.filled(), 0.7 / 0.9, 0.04);
  const SizingChoice a = *plain.Weigh(), b = *strict.Weigh();
  // With a spare factor of 1.6, the tasks of every size must process 1.6 times the load.
  EXPECT_GT(b.options[b.chosen].cost, 1.3 * a.options[a.chosen].cost);
  EXPECT_LT(b.options[b.chosen].cost, 1.8 * a.options[a.chosen].cost);
  // A restart restores the decision. A state of an earlier version has no orders.
  std::string bytes = Saved(strict), orders;
  ByteWriter out(&orders);
  strict.SaveOrders(out);
  TaskSizer again = NewSizer();
  ByteReader in(bytes), in_orders(orders);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_EQ(again.filled(), 0.7);
  ASSERT_TRUE(again.LoadOrders(in_orders).ok());
  EXPECT_EQ(again.filled(), strict.filled());
  for (size_t length = 0; length < orders.size(); ++length) {
    ByteReader cut(std::string_view(orders).substr(0, length));
    EXPECT_FALSE(again.LoadOrders(cut).ok()) << length;
    EXPECT_EQ(again.filled(), strict.filled());
  }
}

TEST(TaskSizer, DoesNotChangeItsMindOverTheSameDays) {
  TaskSizer sizer = NewSizer();
  Feed(sizer, 0, 2 * kWindowsPerDay);
  const double first = *sizer.cores();
  for (int day = 2; day < 20; ++day) {
    Feed(sizer, day * kWindowsPerDay, (day + 1) * kWindowsPerDay, first);
    EXPECT_EQ(*sizer.cores(), first) << "day " << day;
  }
}

TEST(TaskSizer, WithoutALimitThereIsNoSize) {
  TaskSizer sizer = NewSizer();
  std::vector<TaskUsage> tasks{{0, 1, 1}};
  for (int w = 0; w < 1000; ++w) {
    sizer.ObserveCpu({.window = WindowId{w}, .buckets = {}, .tasks = tasks, .owner_limit = {}}, std::nullopt);
    sizer.ObserveMemory(
        {.window = WindowId{w}, .buckets = {}, .tasks = tasks, .owner_limit = {}, .used_together = {1.0}},
        std::nullopt);
  }
  EXPECT_FALSE(sizer.cores().has_value());
}

TEST(TaskSizer, AnotherSizeOfTheOwnersIsWeighedAtOnce) {
  TaskSizer sizer({.min_saving = 0.9, .spare = 0}, ReplicaBounds(), 0.7);
  Feed(sizer, 0, 300);
  EXPECT_EQ(sizer.cores(), 4.0) << "nothing saves so much";
  Feed(sizer, 300, 301, 6);
  EXPECT_EQ(sizer.cores(), 6.0);
}

TEST(TaskSizer, AWeekWithoutMeasurementsIsForgotten) {
  TaskSizer sizer = NewSizer();
  Feed(sizer, 0, 300);
  Feed(sizer, 100 * kWindowsPerDay, 100 * kWindowsPerDay + 12);
  EXPECT_FALSE(sizer.Weigh().has_value());
}

TEST(TaskSizer, GoesOnAsSaved) {
  TaskSizer sizer = NewSizer(), loaded = NewSizer();
  Feed(sizer, 0, 450);
  const std::string bytes = Saved(sizer);
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  Feed(sizer, 450, 900);
  Feed(loaded, 450, 900);
  EXPECT_EQ(Saved(loaded), Saved(sizer));
}

TEST(TaskSizer, BadBytesChangeNothing) {
  TaskSizer sizer = NewSizer();
  Feed(sizer, 0, 450);
  const std::string bytes = Saved(sizer);
  for (size_t size = 0; size < bytes.size(); size += 7) {
    ByteReader in(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(sizer.Load(in).ok());
  }
  std::string bad = bytes;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bad.replace(0, sizeof nan, reinterpret_cast<const char*>(&nan), sizeof nan);
  ByteReader in(bad);
  EXPECT_FALSE(sizer.Load(in).ok());
  EXPECT_EQ(Saved(sizer), bytes);
}

}  // namespace
}  // namespace taut::brain
