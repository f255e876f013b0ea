#include "brain/cell/recorded_machines.h"

#include <algorithm>

#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr JobId kJob{3};

// Returns the stays in windows 0 to 99 as text, "m:first-last" each.
std::string Stays(const RecordedMachines& machines, uint32_t task) {
  std::string out;
  const RecordedMachines::Stay* last = nullptr;
  for (int32_t w = 0; w < 100; ++w) {
    const RecordedMachines::Stay* stay = machines.StayOf(kJob, task, {w});
    if (stay == nullptr || stay == last) continue;
    out += std::to_string(stay->machine) + ":" + std::to_string(stay->first) + "-" +
           std::to_string(stay->last) + " ";
    last = stay;
  }
  return out;
}

TEST(RecordedMachines, ATaskStaysMovesAndIsAwayAfterALongGap) {
  RecordedMachines machines;
  for (const int32_t w : {5, 6, 7, 19, 20})
    machines.Place(kJob, 0, {w}, 1);  // windows 8 to 18 have no row, which is a short gap
  machines.Place(kJob, 0, {21}, 2);
  machines.Place(kJob, 0, {34}, 2);
  machines.Place(kJob, 0, {48}, 2);  // 13 windows before this window have no row
  EXPECT_EQ(Stays(machines, 0), "1:5-20 2:21-34 2:48-48 ");
  EXPECT_EQ(machines.StayOf(kJob, 1, {5}), nullptr);
  EXPECT_EQ(machines.tasks(), 1U);
}

TEST(RecordedMachines, OfTwoMachinesOfAWindowTheLaterRowCounts) {
  RecordedMachines machines;
  for (const int32_t w : {5, 6, 7, 8}) machines.Place(kJob, 0, {w}, 1);
  machines.Place(kJob, 0, {7}, 2);
  EXPECT_EQ(Stays(machines, 0), "1:5-6 2:7-7 1:8-8 ");
}

// The rows arrive out of order, because the shards of a table are not in order of time.
TEST(RecordedMachines, TheOrderOfTheRowsDoesNotMatter) {
  std::vector<int32_t> windows;
  for (int32_t w = 0; w < 100; ++w) {
    if (w % 29 < 14) windows.push_back(w);
  }
  RecordedMachines in_order;
  const auto place = [](RecordedMachines& into, int32_t w) { into.Place(kJob, 0, {w}, w < 60 ? 1 : 2); };
  for (const int32_t w : windows) place(in_order, w);
  Rng rng(5);
  for (int round = 0; round < 50; ++round) {
    for (size_t i = windows.size(); i > 1; --i) std::swap(windows[i - 1], windows[rng.Below(i)]);
    RecordedMachines shuffled;
    for (const int32_t w : windows) place(shuffled, w);
    EXPECT_EQ(Stays(shuffled, 0), Stays(in_order, 0));
  }
}

TEST(RecordedMachines, CapacityChangesWithItsEventsInWhateverOrder) {
  RecordedMachines machines;
  const uint32_t m = machines.Number("m");
  EXPECT_FALSE(machines.listed(m));
  using enum MachineEventKind;
  machines.AddEvent(m, {Timestamp{300}, kRemove, {}, {}, 0});
  machines.AddEvent(m, {Timestamp{100}, kAdd, 8.0, 16.0, 0});
  machines.AddEvent(m, {Timestamp{200}, kUpdate, 4.0, {}, 0});
  machines.AddEvent(m, {Timestamp{400}, kAdd, 32.0, 64.0, 0});
  machines.SettleEvents(
      [](std::string_view cause, uint32_t, const MachineEvent&) { ADD_FAILURE() << cause; });
  EXPECT_TRUE(machines.listed(m));
  EXPECT_EQ(machines.CapacityAt(m, Timestamp{99}), nullptr);
  EXPECT_EQ(machines.CapacityAt(m, Timestamp{100})->cpu_cores, 8);
  EXPECT_EQ(machines.CapacityAt(m, Timestamp{250})->cpu_cores, 4);
  EXPECT_EQ(machines.CapacityAt(m, Timestamp{250})->memory_bytes, 16);
  EXPECT_FALSE(machines.CapacityAt(m, Timestamp{399})->in_cell);
  EXPECT_TRUE(machines.CapacityAt(m, Timestamp{401})->in_cell);
  EXPECT_EQ(machines.Largest(0), 32);
  EXPECT_EQ(machines.Largest(1), 64);
}

TEST(RecordedMachines, WhatCannotBeRightIsNamed) {
  RecordedMachines machines;
  using enum MachineEventKind;
  const uint32_t a = machines.Number("a"), b = machines.Number("b");
  machines.AddEvent(a, {Timestamp{0}, kUpdate, 8.0, 16.0, 1});
  machines.AddEvent(a, {Timestamp{1}, kAdd, 8.0, 16.0, 2});
  machines.AddEvent(b, {Timestamp{0}, kRemove, {}, {}, 3});
  machines.AddEvent(b, {Timestamp{1}, kAdd, 8.0, {}, 4});
  std::vector<std::string> causes;
  machines.SettleEvents([&](std::string_view cause, uint32_t machine, const MachineEvent& e) {
    causes.push_back(machines.name(machine) + std::to_string(e.place) + " " + std::string(cause));
  });
  EXPECT_EQ(causes, (std::vector<std::string>{"a1 update of a machine that is not in the cell",
                                              "a2 addition of a machine that is in the cell",
                                              "b3 removal of a machine that is not in the cell",
                                              "b4 machine without capacity"}));
}

}  // namespace
}  // namespace taut::brain
