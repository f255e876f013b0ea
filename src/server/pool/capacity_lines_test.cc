#include "server/pool/capacity_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/pool/capacity_fixture.h"

namespace taut::server {
namespace {

HourOfCapacity HourWith(std::vector<CellCapacity> windows) {
  HourOfCapacity hour;
  for (const CellCapacity& w : windows) hour.Add(w, MadeTiers());
  return hour;
}

CellCapacity Plain(double capacity, double production, double batch) {
  CellCapacity out;
  CapacityAmounts& a = out.amounts(kCpu);
  a.capacity = capacity;
  a.usage = production + batch;
  a.use = {production, batch, 0};
  return out;
}

TEST(CapacityLines, AnHourIsTheLowestCapacityTheMeanUsageAndTheHighestUseOfEachTier) {
  std::vector<CellCapacity> windows(5, Plain(100, 30, 10));
  windows.push_back(Plain(90, 50, 2));
  const HourOfCapacity hour = HourWith(windows);
  EXPECT_EQ(hour.Of(kCpu, CapacityLine::kCapacity), 90);
  EXPECT_NEAR(*hour.Of(kCpu, CapacityLine::kUsage), (5 * 40 + 52) / 6.0, 1e-9);
  EXPECT_EQ(hour.Of(kCpu, CapacityLine::kUsagePeak), 52);
  EXPECT_EQ(hour.Of(kCpu, CapacityLine::kReservation), std::nullopt) << "absent, not 0";
  EXPECT_EQ(hour.Of(Resource::kMemory, CapacityLine::kCapacity), std::nullopt);
  CapacityLines lines;
  lines.Put(500'000, hour);
  EXPECT_EQ(lines.HigherUse(500'000, kCpu, MadeTiers(), 1), 50);
  EXPECT_EQ(lines.HigherUse(500'000, kCpu, MadeTiers(), 2), 60) << "tier by tier: 50 and 10";
  EXPECT_EQ(lines.HigherUse(500'000, kCpu, MadeTiers(), 0), 0);
  EXPECT_EQ(lines.HigherUse(500'001, kCpu, MadeTiers(), 1), std::nullopt);
  EXPECT_EQ(lines.HigherUse(500'000, Resource::kMemory, MadeTiers(), 1), std::nullopt);
}

TEST(CapacityLines, AnHourOfWhichHalfIsMissingIsAbsent) {
  const HourOfCapacity hour = HourWith(std::vector<CellCapacity>(5, Plain(100, 30, 10)));
  EXPECT_EQ(hour.Of(kCpu, CapacityLine::kCapacity), std::nullopt);
  EXPECT_TRUE(hour.Use(kCpu).empty());
  CapacityLines lines;
  lines.Put(10, hour);
  EXPECT_EQ(lines.At(10, kCpu, CapacityLine::kUsage), std::nullopt);
}

TEST(CapacityLines, ATierThatIsNoMoreCountsAboveAllOthers) {
  CapacityLines lines;
  lines.Put(7, HourWith(std::vector<CellCapacity>(12, Plain(100, 30, 10))));
  const std::vector<CapacityTier> now = {{"gold", brain::TierSale::kReserved, 1},
                                         {"batch", brain::TierSale::kSlack, 0.98}};
  EXPECT_EQ(lines.HigherUse(7, kCpu, now, 1), 30) << "production is not among the tiers";
  EXPECT_EQ(lines.HigherUse(7, kCpu, now, 0), 30);
}

TEST(CapacityLines, KeepsHundredDaysAndLeavesGapsAbsent) {
  CapacityLines lines;
  const auto put = [&](int32_t hour) {
    lines.Put(hour, HourWith(std::vector<CellCapacity>(12, Plain(100 + hour % 7, 30, 10))));
  };
  for (int32_t h = 1000; h < 1010; ++h) put(h);
  put(1020);
  EXPECT_EQ(lines.At(1009, kCpu, CapacityLine::kCapacity), 100 + 1009 % 7);
  for (int32_t h = 1010; h < 1020; ++h)
    EXPECT_EQ(lines.At(h, kCpu, CapacityLine::kCapacity), std::nullopt) << h;
  put(1000 + kCapacityHours + 4);
  EXPECT_EQ(lines.first(), 1005);
  EXPECT_EQ(lines.At(1004, kCpu, CapacityLine::kCapacity), std::nullopt);
  EXPECT_EQ(lines.At(1005, kCpu, CapacityLine::kCapacity), 100 + 1005 % 7);
  EXPECT_EQ(lines.At(1021, kCpu, CapacityLine::kCapacity), std::nullopt);
  put(3 * kCapacityHours);
  EXPECT_EQ(lines.first(), 3 * kCapacityHours) << "all of before is older";
  EXPECT_EQ(lines.At(3 * kCapacityHours - 1, kCpu, CapacityLine::kCapacity), std::nullopt);
  EXPECT_LT(lines.bytes(), size_t{300} << 10);
}

TEST(CapacityLines, IsTheSameAfterItIsSavedAndLoaded) {
  CapacityLines lines;
  for (int32_t h = 2000; h < 2100; h += h % 5 == 0 ? 3 : 1)
    lines.Put(h, HourWith(std::vector<CellCapacity>(12, Plain(100, h % 50, 10))));
  std::string bytes;
  ByteWriter out(&bytes);
  lines.Save(out);
  ByteReader in(bytes);
  const absl::StatusOr<CapacityLines> loaded = CapacityLines::Load(in);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::string again;
  ByteWriter writer(&again);
  loaded->Save(writer);
  EXPECT_EQ(bytes, again);
  for (int32_t h = 1990; h < 2110; ++h)
    EXPECT_EQ(loaded->HigherUse(h, kCpu, MadeTiers(), 1), lines.HigherUse(h, kCpu, MadeTiers(), 1)) << h;
  for (size_t n = 0; n < bytes.size(); n += 37) {
    ByteReader cut(std::string_view(bytes).substr(0, n));
    EXPECT_FALSE(CapacityLines::Load(cut).ok()) << n;
  }
}

}  // namespace
}  // namespace taut::server
