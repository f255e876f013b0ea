#include "server/kubernetes/client/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace taut::server {
namespace {

TEST(Quantity, ReadsWhatKubernetesWrites) {
  EXPECT_DOUBLE_EQ(*ParseQuantity("250m"), 0.25);
  EXPECT_DOUBLE_EQ(*ParseQuantity("2"), 2);
  EXPECT_DOUBLE_EQ(*ParseQuantity("0.5"), 0.5);
  EXPECT_DOUBLE_EQ(*ParseQuantity("+1"), 1);
  EXPECT_DOUBLE_EQ(*ParseQuantity("64Mi"), 64.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(*ParseQuantity("1Gi"), 1024.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(*ParseQuantity("128974848"), 128974848);
  EXPECT_DOUBLE_EQ(*ParseQuantity("129M"), 129e6);
  EXPECT_DOUBLE_EQ(*ParseQuantity("129e6"), 129e6);
  EXPECT_DOUBLE_EQ(*ParseQuantity("1E3"), 1000);
  EXPECT_DOUBLE_EQ(*ParseQuantity("1E"), 1e18);
  EXPECT_DOUBLE_EQ(*ParseQuantity("128974848000m"), 128974848);
  EXPECT_DOUBLE_EQ(*ParseQuantity("1500000000n"), 1.5);
}

TEST(Quantity, SaysWhatIsNone) {
  for (const char* text : {"", "m", "Mi", "1 Gi", "1gi", "one", "1e3Mi", "--1", "+-1", "1mm", "nan", "inf"})
    EXPECT_FALSE(ParseQuantity(text).has_value()) << text;
}

TEST(Quantity, RoundsUpToWhatTheApiKeeps) {
  EXPECT_EQ(CpuQuantity(0.25), "250m");
  EXPECT_EQ(CpuQuantity(0.1 * 3), "300m");
  EXPECT_EQ(CpuQuantity(0.2501), "251m");
  EXPECT_EQ(CpuQuantity(2), "2");
  EXPECT_EQ(CpuQuantity(0), "0");
  EXPECT_EQ(MemoryQuantity(64.0 * 1024 * 1024), "64Mi");
  EXPECT_EQ(MemoryQuantity(1000.2), "1001");
  EXPECT_EQ(MemoryQuantity(0), "0");
  EXPECT_EQ(CpuQuantity(-1), "0");
  EXPECT_EQ(CpuQuantity(1e300), "1000000000000");
  EXPECT_EQ(MemoryQuantity(1e300), "4398046511104Mi");
}

RC_GTEST_PROP(Quantity, WhatIsWrittenIsReadBackAndNoLess, ()) {
  const double cores = *rc::gen::inRange(0, 1'000'000'000) / 1e4;
  const double back = *ParseQuantity(CpuQuantity(cores));
  RC_ASSERT(back >= cores - 1e-8);
  RC_ASSERT(back < cores + 0.001);
  const auto bytes = static_cast<double>(*rc::gen::inRange<int64_t>(0, int64_t{1} << 50));
  RC_ASSERT(*ParseQuantity(MemoryQuantity(bytes)) == bytes);
}

}  // namespace
}  // namespace taut::server
