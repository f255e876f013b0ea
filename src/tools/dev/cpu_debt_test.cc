#include "tools/dev/cpu_debt.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace taut::tools {
namespace {

TEST(CpuDebt, WhatWasUsedTooMuchIsMissingNext) {
  CpuDebt debt(50'000);
  EXPECT_EQ(debt.Owe(0.3, 10'000), 3000);
  debt.Used(5000);
  EXPECT_EQ(debt.Owe(0.3, 10'000), 1000);
  debt.Used(9000);
  EXPECT_EQ(debt.Owe(0.3, 10'000), 0);
}

TEST(CpuDebt, AThrottledLoadDoesNotCatchUpForLong) {
  CpuDebt debt(50'000);
  EXPECT_EQ(debt.Owe(1, 10'000'000), 50'000);
}

TEST(CpuDebt, AsFewThreadsAsThereCanBe) {
  EXPECT_EQ(ShareOfThread(0, 0), 0);
  EXPECT_EQ(ShareOfThread(0.3, 0), 0.3);
  EXPECT_EQ(ShareOfThread(0.3, 1), 0);
  EXPECT_EQ(ShareOfThread(2, 1), 1);
  EXPECT_EQ(ShareOfThread(2, 2), 0);
  EXPECT_DOUBLE_EQ(ShareOfThread(2.4, 2), 0.8);
  EXPECT_EQ(ShareOfThread(2.4, 3), 0);
}

// For any delays and lengths of the work, the used CPU time differs from the target by at most one slice.
RC_GTEST_PROP(CpuDebt, TheAverageIsRight, ()) {
  const double share = *rc::gen::inRange(0, 100) / 100.0;
  CpuDebt debt(1'000'000'000);
  double wanted = 0, used = 0, longest = 1;
  for (const auto& slice : *rc::gen::container<std::vector<std::pair<int, int>>>(
           rc::gen::pair(rc::gen::inRange(0, 100'000), rc::gen::inRange(0, 5000)))) {
    wanted += share * slice.first;
    const int64_t now = debt.Owe(share, slice.first);
    if (now == 0) continue;
    debt.Used(now + slice.second);
    used += static_cast<double>(now + slice.second);
    longest = std::max(longest, 1.0 + slice.second);
    RC_ASSERT(std::abs(used - wanted) <= longest);
  }
}

}  // namespace
}  // namespace taut::tools
