#include "tools/trace/row_order.h"

#include <algorithm>

#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> Of(const std::vector<int64_t>& times) { return RowsInOrder(times); }

constexpr int64_t kFar = 4'070'908'800;  // the year 2099

TEST(RowOrder, KeepsWhatAscends) {
  EXPECT_THAT(Of({}), IsEmpty());
  EXPECT_THAT(Of({5}), ElementsAre(0));
  EXPECT_THAT(Of({0, 60, 120}), ElementsAre(0, 1, 2));
  EXPECT_THAT(Of({0, 60, 60, 120}), ElementsAre(0, 1, 3)) << "the first of two";
  EXPECT_THAT(Of({60, 120, 240, 180}), ElementsAre(0, 1, 2)) << "the first of two";
}

TEST(RowOrder, ARowOfAnotherTimeIsLeftOutWhereverItIs) {
  for (size_t at = 0; at < 12; ++at) {
    for (const int64_t wrong : {kFar, -kFar, int64_t{100'000}}) {
      std::vector<int64_t> times;
      std::vector<uint32_t> right;
      for (size_t i = 0; i < 12; ++i) {
        times.push_back(i == at ? wrong : static_cast<int64_t>(60 * i));
        if (i != at) right.push_back(static_cast<uint32_t>(i));
      }
      EXPECT_EQ(Of(times), right) << wrong << " at " << at;
    }
  }
  EXPECT_THAT(Of({0, 60, kFar, 120, kFar + 60, 180, 240, 300}), ElementsAre(0, 1, 3, 5, 6, 7));
}

// Rows after a gap are kept if there are enough of them.
TEST(RowOrder, WhatGoesOnAfterALongGapIsKept) {
  std::vector<int64_t> times;
  for (int64_t i = 0; i < 200; ++i) times.push_back(60 * i + (i < 150 ? 0 : 1'000'000));
  EXPECT_EQ(Of(times).size(), 200U);
  EXPECT_EQ(Of({0, 60, 1'000'000}).size(), 3U) << "too few to say which is wrong";
  std::vector<int64_t> few;
  for (int64_t i = 0; i < 200; ++i) few.push_back(60 * i + (i < 198 ? 0 : kFar));
  EXPECT_EQ(Of(few).size(), 198U);
}

// Compares the result with all subsets of the rows.
TEST(RowOrder, AsManyAsPossible) {
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> times;
    for (int i = 0; i < 5; ++i) times.push_back(static_cast<int64_t>(rng.Below(6)));
    int most = 0;
    for (uint32_t set = 0; set < 32; ++set) {
      int64_t last = -1;
      int size = 0;
      for (uint32_t i = 0; i < 5; ++i) {
        if ((set >> i & 1) == 0) continue;
        size = times[i] > last ? size + 1 : -100;
        last = times[i];
      }
      most = std::max(most, size);
    }
    const std::vector<uint32_t> kept = Of(times);
    EXPECT_EQ(static_cast<int>(kept.size()), most);
    for (size_t i = 1; i < kept.size(); ++i) {
      EXPECT_LT(kept[i - 1], kept[i]);
      EXPECT_LT(times[kept[i - 1]], times[kept[i]]);
    }
  }
}

}  // namespace
}  // namespace taut::tools
