#include "brain/overcommit/pool.h"

#include <string>

#include "common/base/random.h"
#include "common/testing/test_scale.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// The ten errors are 0.1 to 1. With n + 1 = 11, a share of 10 % allows one error above the quantile, 5 % allows
// none.
TEST(PoolErrors, QuantileLeavesTheOrderedShareAbove) {
  PoolErrors errors;
  for (int i = 1; i <= 10; ++i) errors.Add(i / 10.0);
  EXPECT_NEAR(errors.Quantile(0.1), 0.9, 0.0011);
  EXPECT_NEAR(errors.Quantile(0.05), 1.0, 0.0011);
  EXPECT_NEAR(errors.Quantile(0.5), 0.5, 0.0011);
  EXPECT_EQ(errors.n(), 10U);
}

TEST(PoolErrors, WhatIsFarOffCountsAtTheEdges) {
  PoolErrors errors;
  errors.Add(-1e9);
  EXPECT_NEAR(errors.Quantile(0.1), -2, 1e-9);
  errors.Add(1e9);
  EXPECT_NEAR(errors.Quantile(0.1), 48, 1e-9);
}

TEST(PoolOrder, MovesAgainstWhatWasDelivered) {
  PoolOrder order(0.03, 0.2);
  order.Take(1);
  EXPECT_NEAR(order.used(), 0.03 + 0.2 * 0.03 * (0.03 - 1), 1e-12);
  for (int i = 0; i < 1000; ++i) order.Take(0);
  EXPECT_GT(order.used(), 0.03);
  for (int i = 0; i < 100'000; ++i) order.Take(0);
  EXPECT_DOUBLE_EQ(order.used(), 0.15);
  for (int i = 0; i < 100'000; ++i) order.Take(1);
  EXPECT_DOUBLE_EQ(order.used(), 0.006);
}

// The machine's highest usage is 1 in a day, 2 in a week and 3 in two weeks. Over the tasks, the sum of the
// highest usage in a week is 6, and the sum of the limits is 24.
TEST(PoolBases, AreAsWritten) {
  const PoolFeatures f = {24, 1, 2, 3, 6};
  const auto bases = PoolBases(PoolHorizon::kDay);
  EXPECT_DOUBLE_EQ(bases[0].base(f), 3);
  EXPECT_DOUBLE_EQ(bases[0].scale(f), 12);
  EXPECT_DOUBLE_EQ(bases[1].base(f), 4);
  EXPECT_DOUBLE_EQ(bases[1].scale(f), 4);
  EXPECT_DOUBLE_EQ(bases[2].base(f), 2.5);
  EXPECT_DOUBLE_EQ(bases[2].scale(f), 4);
}

// The machine's highest usage of 6 hours is 0.5, and the sum of the tasks' own of a day is 5.
TEST(PoolBases, OfAPartOfTheDayUseTheLastHours) {
  const PoolFeatures f = {24, 1, 2, 3, 6, 5, 0.5};
  const auto bases = PoolBases(PoolHorizon::kPartOfDay);
  EXPECT_DOUBLE_EQ(bases[0].base(f), 3);
  EXPECT_DOUBLE_EQ(bases[1].base(f), 2.5);
  EXPECT_DOUBLE_EQ(bases[1].scale(f), 5.5);
  EXPECT_DOUBLE_EQ(bases[2].base(f), 2.5);
}

// The usage is 8 from 00:00 to 04:00, and 1 otherwise. A prediction for 4 hours follows the hours of the day. A
// prediction for 24 hours does not.
TEST(Pool, OfAPartOfTheDayKnowsTheHours) {
  const auto part = NewPoolPredictor({}, 4), day = NewPoolPredictor({}, 24);
  const auto observe = [&](int32_t from, int32_t to) {
    for (int32_t w = from; w < to; ++w) {
      const TaskLoad task = {1, w % kWindowsPerDay < 48 ? 8.0F : 1.0F, 10};
      for (const auto& pool : {part.get(), day.get()}) {
        for (uint32_t m = 0; m < 8; ++m) pool->Observe({w}, m, Sum({&task, 1}));
        pool->EndWindow({w});
      }
    }
  };
  const int32_t noon = 30 * kWindowsPerDay + 144, midnight = 31 * kWindowsPerDay;
  observe(0, noon);
  EXPECT_LT(part->Predict(0), 5);
  EXPECT_GE(day->Predict(0), 8);
  observe(noon, midnight);
  EXPECT_GE(part->Predict(0), 8);
}

// Machines with five tasks of limit 10, whose usage is exponential with mean 1, redrawn every 2 hours.
class Cell {
 public:
  Cell(const PoolSettings& settings, int machines, int tasks)
      : pool_(NewPoolPredictor(settings, 24)), rng_(7), loads_(static_cast<size_t>(machines)) {
    for (auto& machine : loads_) {
      for (int t = 0; t < tasks; ++t) machine.push_back({static_cast<uint64_t>(t), 0, 10});
    }
  }
  void Window() {
    for (uint32_t m = 0; m < loads_.size(); ++m) {
      if (now_ % 24 == 0) {
        for (TaskLoad& t : loads_[m])
          t.usage = static_cast<float>(std::min(10.0, -std::log(1 - rng_.Uniform())));
      }
      pool_->Observe({now_}, m, Sum(loads_[m]));
    }
    pool_->EndWindow({now_++});
  }
  void Days(int days) {
    for (int i = 0; i < days * kWindowsPerDay; ++i) Window();
  }
  void GoTo(int32_t day) { now_ = day * kWindowsPerDay; }
  std::string Saved() const {
    std::string bytes;
    ByteWriter out(&bytes);
    pool_->Save(out);
    return bytes;
  }
  absl::Status Load(const std::string& bytes) {
    ByteReader in(bytes);
    return pool_->Load(in);
  }
  double Usage(size_t m) const { return Sum(loads_[m]).usage; }
  double Peak(uint32_t m) const { return pool_->Predict(m); }
  std::vector<TaskLoad>& machine(size_t m) { return loads_[m]; }
  std::string Sentence(uint32_t m) const {
    Reason reason;
    pool_->Explain(m, reason);
    return reason.sentence;
  }

 private:
  std::unique_ptr<DurablePredictor> pool_;
  Rng rng_;
  std::vector<std::vector<TaskLoad>> loads_;
  int32_t now_ = 0;
};

TEST(Pool, UsesTheLimitsUntilForecastsWereCompared) {
  Cell cell({}, 4, 5);
  cell.Days(6);
  EXPECT_DOUBLE_EQ(cell.Peak(0), 50);
  EXPECT_NE(cell.Sentence(0).find("known for less than 7 days"), std::string::npos) << cell.Sentence(0);
  cell.Days(2);
  EXPECT_DOUBLE_EQ(cell.Peak(0), 50);
  EXPECT_NE(cell.Sentence(0).find("of 20 machine-days of completed forecasts"), std::string::npos)
      << cell.Sentence(0);
  cell.Days(10);
  EXPECT_LT(cell.Peak(0), 40);
  EXPECT_NE(cell.Sentence(0).find("ordered are 3 %"), std::string::npos) << cell.Sentence(0);
}

// The share of days whose peak exceeds the earlier forecast equals the target share to within a third.
TEST(Pool, DeliversTheOrderedShare) {
  for (const double over : {0.03, 0.1}) {
    PoolSettings settings;
    settings.over = over;
    constexpr int kMachines = 40;
    Cell cell(settings, kMachines, 5);
    cell.Days(14);
    int passed = 0, n = 0;
    for (int day = 0; day < 80; ++day) {
      std::vector<double> forecast(kMachines), peak(kMachines);
      for (uint32_t m = 0; m < kMachines; ++m) forecast[m] = cell.Peak(m);
      for (int i = 0; i < kWindowsPerDay; ++i) {
        cell.Window();
        for (size_t m = 0; m < kMachines; ++m) peak[m] = std::max(peak[m], cell.Usage(m));
      }
      for (size_t m = 0; m < kMachines; ++m) {
        passed += peak[m] > forecast[m] ? 1 : 0;
        ++n;
      }
    }
    EXPECT_NEAR(passed / static_cast<double>(n), over, over / 3) << over;
  }
}

TEST(Pool, ATaskWithoutHistoryCountsWithItsLimit) {
  Cell cell({}, 4, 5);
  cell.Days(18);
  const double before = cell.Peak(0);
  cell.machine(0).push_back({99, -1, 10});
  cell.Window();
  EXPECT_NEAR(cell.Peak(0), before + 10, 0.2 * before);
  EXPECT_NE(cell.Sentence(0).find("1 task with little history"), std::string::npos) << cell.Sentence(0);
  EXPECT_DOUBLE_EQ(cell.Peak(99), 0) << "a machine never observed";
}

TEST(Pool, ARestartGivesTheSameForecasts) {
  Cell one({}, 4, 5), two({}, 4, 5);
  one.Days(18);
  two.Days(18);
  const std::string bytes = one.Saved();
  ASSERT_TRUE(one.Load(bytes).ok());
  EXPECT_EQ(one.Saved(), bytes);
  for (int day = 0; day < 10; ++day) {
    one.Days(1);
    two.Days(1);
    for (uint32_t m = 0; m < 4; ++m) EXPECT_EQ(one.Peak(m), two.Peak(m));
    EXPECT_EQ(one.Sentence(1), two.Sentence(1));
  }
}

TEST(Pool, DamagedStateIsAnError) {
  Cell cell({}, 3, 3);
  cell.Days(12);
  const std::string bytes = cell.Saved();
  EXPECT_EQ(cell.Load(bytes.substr(0, bytes.size() - 1)).code(), absl::StatusCode::kDataLoss);
  std::string newer = bytes;
  newer[0] = 9;
  EXPECT_EQ(cell.Load(newer).code(), absl::StatusCode::kUnimplemented);
  PoolSettings other;
  other.every_h = 4;
  Cell coarse(other, 3, 3);
  EXPECT_EQ(coarse.Load(bytes).code(), absl::StatusCode::kFailedPrecondition);
  // Damaged bytes yield an error or a usable pool.
  Rng rng(3);
  for (int i = 0; i < Scaled(2000); ++i) {
    std::string damaged = bytes;
    for (int k = 0; k < 4; ++k) damaged[rng.Next() % damaged.size()] = static_cast<char>(rng.Next());
    Cell broken({}, 3, 3);
    if (broken.Load(damaged).ok() && i % 20 == 0) broken.Days(1);
  }
}

// With another target share the pool keeps its history, and the share in use restarts from its initial value.
TEST(Pool, AnotherOrderedShareKeepsTheHistory) {
  Cell cell({}, 4, 5);
  cell.Days(18);
  PoolSettings loose;
  loose.over = 0.2;
  Cell other(loose, 4, 5);
  ASSERT_TRUE(other.Load(cell.Saved()).ok());
  other.GoTo(18);
  other.Days(1);
  EXPECT_LT(other.Peak(0), 40);
  EXPECT_NE(other.Sentence(0).find("ordered are 20 %"), std::string::npos) << other.Sentence(0);
}

TEST(Pool, AMachineThatIsForgottenIsAnotherOne) {
  const auto pool = NewPoolPredictor({}, 24);
  std::vector<TaskLoad> tasks = {{1, 2, 10}};
  for (int32_t w = 0; w < 10 * kWindowsPerDay; ++w) {
    pool->Observe({w}, 0, Sum(tasks));
    pool->EndWindow({w});
  }
  pool->Forget(0);
  EXPECT_EQ(pool->Predict(0), 0);
  EXPECT_FALSE(pool->Learnt(0));
}

TEST(Pool, ASmallerOrderedShareNeedsMore) {
  PoolSettings strict, loose;
  strict.over = 0.01;
  loose.over = 0.1;
  Cell a(strict, 8, 5), b(loose, 8, 5);
  a.Days(25);
  b.Days(25);
  for (uint32_t m = 0; m < 8; ++m) EXPECT_GT(a.Peak(m), b.Peak(m));
}

}  // namespace
}  // namespace taut::brain
