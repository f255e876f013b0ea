#include "tools/sim/fleet_moves.h"

#include "common/base/time.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

TEST(FleetMoves, AreThoseOfTheDaysBefore) {
  // Loads of two jobs with steps of one minute. The first load doubles every ten minutes of its first day, and the
  // second load is constant.
  std::vector<LoadSeries> loads;
  loads.push_back({"a", 0, 60, std::vector<float>(3 * 1440, 100)});
  loads.push_back({"b", kDaySeconds / 2, 60, std::vector<float>(1440, 50)});
  for (size_t i = 0; i < 1440; ++i) loads[0].load[i] = i / 10 % 2 == 0 ? 100 : 200;
  const FleetMoves moves(loads, 300, 600);
  EXPECT_EQ(moves.At(0), nullptr);
  EXPECT_EQ(moves.At(kDaySeconds - 1), nullptr) << "what is of today is not known";
  brain::LoadMoves first;
  for (size_t i = 10; i < 1440; i += 5) first.Add(loads[0].load[i - 10], loads[0].load[i]);
  for (int i = 10; i < 720; i += 5) first.Add(50, 50);
  brain::LoadAnalogs expected;
  expected.CloseDay();
  expected.Take(first);
  const auto bytes = [](const brain::LoadAnalogs& analogs) {
    std::string out;
    ByteWriter writer(&out);
    analogs.Save(writer);
    return out;
  };
  ASSERT_NE(moves.At(kDaySeconds), nullptr);
  EXPECT_EQ(bytes(*moves.At(kDaySeconds)), bytes(expected));
  EXPECT_EQ(moves.At(kDaySeconds), moves.At(2 * kDaySeconds - 1));
  EXPECT_NE(bytes(*moves.At(2 * kDaySeconds)), bytes(expected));
  EXPECT_EQ(moves.At(100 * kDaySeconds), moves.At(3 * kDaySeconds)) << "nothing came after";
}

TEST(FleetMoves, OfNothing) {
  EXPECT_EQ(FleetMoves({}, 60, 120).At(0), nullptr);
  const std::vector<LoadSeries> loads = {{"a", 0, 60, {LoadSeries::kAbsentLoad, 1, LoadSeries::kAbsentLoad}}};
  EXPECT_EQ(FleetMoves(loads, 60, 0).At(0), nullptr);
}

}  // namespace
}  // namespace taut::tools
