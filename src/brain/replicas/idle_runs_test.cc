#include "brain/replicas/idle_runs.h"

#include <string>

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr double kPrice = 8;

std::string BytesOf(const IdleRuns& runs) {
  std::string bytes;
  ByteWriter out(&bytes);
  runs.Save(out);
  return bytes;
}

bool Loads(const std::string& bytes, IdleRuns& runs) {
  ByteReader in(bytes);
  StoredValues values(in);
  runs.Load(values);
  return values.ok();
}

// Returns the number of steps for which a task that became idle at `step` is kept.
int StepsKept(IdleRuns& runs, int64_t step, int from, int to, double usual) {
  runs.Observe(step, from, usual);
  for (int n = 1; n < 100; ++n) {
    runs.Observe(step + n, to, usual);
    if (runs.Keep(from, kPrice) == to) return n;
  }
  return 100;
}

TEST(IdleRuns, WithoutExperienceATaskIsKeptForAboutThePriceOfAStart) {
  IdleRuns runs;
  EXPECT_NEAR(StepsKept(runs, 0, 10, 8, 10), kPrice, 2);
}

// Tasks are idle for three steps each time, so a start costs more than the wait.
TEST(IdleRuns, ShortIdleTimesKeepTasks) {
  IdleRuns runs;
  int64_t step = 0;
  for (int i = 0; i < 100; ++i) {
    for (int n = 0; n < 5; ++n) runs.Observe(step++, 12, 12);
    for (int n = 0; n < 3; ++n) {
      runs.Observe(step++, 8, 12);
      EXPECT_EQ(runs.Keep(12, kPrice), 12);
    }
  }
}

// After a peak the tasks are idle for five hours, so no wait is justified. The tasks of the usual load wait.
TEST(IdleRuns, TasksOfRarePeaksStopAtOnce) {
  IdleRuns runs;
  int64_t step = 0;
  const auto peak = [&] {
    for (int n = 0; n < 10; ++n) runs.Observe(step++, 40, 10);
  };
  for (int i = 0; i < 40; ++i) {
    peak();
    for (int n = 0; n < 300; ++n) runs.Observe(step++, 10, 10);
  }
  peak();
  EXPECT_EQ(StepsKept(runs, step, 40, 10, 10), 1);
  EXPECT_GT(StepsKept(runs, step + 400, 10, 9, 10), 5);
}

TEST(IdleRuns, TasksStopInTheOrderInWhichTheyBecameIdle) {
  IdleRuns runs;
  runs.Observe(0, 10, 10);
  int last = 10;
  for (int step = 1; step < 40; ++step) {
    runs.Observe(step, std::max(5, 10 - step / 3), 10);
    const int keep = runs.Keep(last, kPrice);
    EXPECT_LE(last - keep, 1) << step;
    last = keep;
  }
  EXPECT_EQ(last, 5);
}

TEST(IdleRuns, TasksThatNobodyWantedStopAtOnceAndMissingTasksStayMissing) {
  IdleRuns runs;
  runs.Observe(0, 8, 8);
  EXPECT_EQ(runs.Keep(20, kPrice), 8);
  EXPECT_EQ(runs.Keep(5, kPrice), 5);
  runs.Observe(1, 6, 8);
  EXPECT_EQ(runs.Keep(20, kPrice), 8);
  EXPECT_EQ(runs.Keep(7, kPrice), 7);
}

// A saw tooth with more falls than the object stores, and a job whose load stops.
TEST(IdleRuns, HasABoundOnItsRuns) {
  IdleRuns runs;
  for (int step = 0; step < 200; ++step) {
    runs.Observe(step, 1000 - 5 * step, 500);
    EXPECT_GE(runs.Keep(1000, kPrice), 1000 - 5 * step);
  }
  for (int step = 200; step < 2000; ++step) runs.Observe(step, 0, 500);
  EXPECT_EQ(runs.Keep(1000, kPrice), 0);
  EXPECT_LT(BytesOf(runs).size(), 1000U);
}

TEST(IdleRuns, GoesOnFromItsBytes) {
  IdleRuns runs, again;
  for (int step = 0; step < 500; ++step) runs.Observe(step, 10 + step % 7 - step % 3, 10);
  ASSERT_TRUE(Loads(BytesOf(runs), again));
  EXPECT_EQ(BytesOf(again), BytesOf(runs));
  EXPECT_EQ(again.Keep(17, kPrice), runs.Keep(17, kPrice));
}

TEST(IdleRuns, RefusesImpossibleBytes) {
  IdleRuns runs, again;
  runs.Observe(0, 10, 10);
  runs.Observe(1, 8, 10);
  runs.Observe(2, 6, 10);
  const std::string bytes = BytesOf(runs);
  constexpr size_t kRuns = 6 * 20 * 4;  // after the durations
  ASSERT_EQ(bytes[kRuns], 2);
  const auto with = [&](size_t at, char value) {
    std::string changed = bytes;
    changed[at] = value;
    return changed;
  };
  ASSERT_TRUE(Loads(bytes, again));
  EXPECT_FALSE(Loads(with(3, '\xff'), again)) << "a negative duration";
  EXPECT_FALSE(Loads(with(kRuns, 100), again)) << "too many runs";
  EXPECT_FALSE(Loads(with(kRuns + 1, 5), again)) << "the first run begins after the second";
  EXPECT_FALSE(Loads(with(kRuns + 1 + 8, 5), again)) << "the tasks do not descend";
  EXPECT_FALSE(Loads(with(kRuns + 1 + 12, 6), again)) << "an unknown situation";
  EXPECT_FALSE(Loads(bytes.substr(0, bytes.size() - 1), again));
}

}  // namespace
}  // namespace taut::brain
