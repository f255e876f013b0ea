// Tests a kill between the saves of two components. After the restart, each component continues from its own saved
// state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "common/histogram/grid.h"
#include "common/testing/recorded_log.h"
#include "server/control/actuator.h"
#include "server/control/in_memory_placement.h"
#include "server/pool/capacity_component.h"
#include "server/pool/machines_component.h"
#include "server/store/in_memory_store.h"

namespace taut::server {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr int kMidnight = 1'700'006'400 / kWindowSeconds;
constexpr int64_t kFromSeconds = int64_t{kMidnight} * kWindowSeconds;

// A daemon with the machines of its agents, from its start to a kill. The kill saves no state.
class Process {
 public:
  Process(InMemoryStore& store, InMemoryStates& states)
      : control_(ControlOptions(), *MappingRules::Compile(BuiltinRules()),
                 {&store, &store, &actuator_, [] { return 0.0; }}),
        context_{.control = &control_, .log = &log_, .states = &states, .now = [] {
                   return Timestamp::FromSeconds(kFromSeconds);
                 }} {
    PlacedMachine machine{.name = "m", .capacity = {16.0, 64e9}};
    PlacedTask& task = machine.tasks.emplace_back();
    task.job = "web";
    task.task = "t";
    task.asked = task.cap = {4.0, 4e9};
    placement_.Set({machine});
    auto* const prices = components_.Add(std::make_unique<PricesComponent>(PricesConfig(), context_));
    // The capacity component starts after the machines component, although it is added first.
    auto made = std::make_unique<MachinesComponent>(MachinesConfig(), context_,
                                                    std::vector<const PlacementSource*>{&placement_});
    machines_ = made.get();
    capacity_ = components_.Add(std::make_unique<CapacityComponent>(
        CapacityComponent::Parts{.machines = machines_, .prices = prices, .default_tier = "production"},
        context_));
    components_.Add(std::move(made));
    EXPECT_TRUE(control_.Restore().ok());
    EXPECT_TRUE(components_.Start().ok());
  }

  // Closes the windows [first, end) of the day.
  void Close(int first, int end) {
    for (int w = first; w < end; ++w) {
      const WindowId window{kMidnight + w};
      const float cores = 1 + static_cast<float>(w % 7) / 8;
      ReportedWindow report;
      report.window = window;
      report.figures.cpu_mean_cores = report.figures.cpu_peak_cores = cores;
      report.figures.memory_mean_bytes = report.figures.memory_peak_bytes = 1e9F;
      report.cpu_buckets = {{Grid::Cpu().BucketOf(cores), 300}};
      report.cpu_limit_cores = 4;
      report.memory_limit_bytes = 4e9F;
      const int64_t end_s = window.next().start_s();
      EXPECT_TRUE(control_.agents().TakeWindow({"web", "t", {}}, report, Timestamp::FromSeconds(end_s)).ok());
      EXPECT_TRUE(control_.Tick(Timestamp::FromSeconds(end_s + 121)).ok());
    }
  }

  std::vector<std::optional<double>> UsedByHour() const {
    const CapacityHistory history =
        capacity_->service()->History(kFromSeconds, kFromSeconds + kDaySeconds, 3600);
    return history.lines[kCpuIndex][static_cast<size_t>(CapacityLine::kUsage)];
  }
  const MachineService& machines() const { return *machines_->service(); }
  const CapacityService& capacity() const { return *capacity_->service(); }
  std::vector<std::string> log() const { return log_.lines(); }

 private:
  RecordedLog log_;
  DryRunActuator actuator_;
  InMemoryPlacement placement_{"agents"};
  ControlPlane control_;
  const DaemonContext context_;
  ComponentList components_;
  const MachinesComponent* machines_ = nullptr;
  CapacityComponent* capacity_ = nullptr;
};

class PoolKill : public testing::Test {
 protected:
  static constexpr int kKilled = 41, kEnd = 72;  // machines are saved with window 40, capacity with window 38
  PoolKill() {
    Process whole(whole_store_, whole_store_.states());
    whole.Close(0, kEnd);
    machines_ = whole.machines().SaveState();
    used_ = whole.UsedByHour();
    Process(store_, store_.states()).Close(0, kKilled);
  }

  InMemoryStore whole_store_, store_;
  // State without a kill, for comparison.
  std::string machines_;
  std::vector<std::optional<double>> used_;
};

TEST_F(PoolKill, WhatWasSavedLaterLosesNothingAndTheOtherOnlyTheWindowsBetween) {
  Process after(store_, store_.states());
  EXPECT_EQ(after.machines().View()->window, WindowId{kMidnight + kKilled - 1});
  EXPECT_EQ(after.capacity().window(), WindowId{kMidnight + kKilled - 3});
  EXPECT_THAT(after.log(), Each(Not(HasSubstr("lost"))));
  after.Close(kKilled, kEnd);
  EXPECT_EQ(after.machines().SaveState(), machines_);
  const std::vector<std::optional<double>> used = after.UsedByHour();
  ASSERT_EQ(used.size(), used_.size());
  for (size_t hour = 0; hour < used.size(); ++hour) {
    ASSERT_EQ(used[hour].has_value(), used_[hour].has_value()) << hour;
    if (hour == 3) continue;
    EXPECT_EQ(used[hour], used_[hour]) << hour;
  }
}

// A large state of machines is written with every sixth window.
TEST_F(PoolKill, MachinesThatWereSavedBeforeCapacityAreShownWhenTheNextWindowCloses) {
  const std::string older = (*store_.states().Get("machines")).value();
  Process(store_, store_.states()).Close(kKilled, kKilled + 4);
  ASSERT_TRUE(store_.states().Put("machines", older).ok());
  Process after(store_, store_.states());
  EXPECT_EQ(after.machines().View()->window, WindowId{kMidnight + kKilled - 1});
  EXPECT_EQ(after.capacity().window(), WindowId{kMidnight + kKilled + 3});
  EXPECT_EQ(after.capacity().View()->latest->source, CapacitySource::kNone) << "they are of another window";
  after.Close(kKilled + 4, kKilled + 5);
  EXPECT_EQ(after.capacity().View()->latest->source, CapacitySource::kMachines);
  EXPECT_EQ(after.machines().View()->window, after.capacity().window());
  EXPECT_THAT(after.log(), Each(Not(HasSubstr("lost"))));
}

TEST_F(PoolKill, StatesThatAreNewerThanTheStoreAreOfAnotherOne) {
  InMemoryStore empty;
  const Process after(empty, store_.states());
  EXPECT_FALSE(after.machines().View()->window.has_value());
  EXPECT_FALSE(after.capacity().window().has_value());
  EXPECT_THAT(after.log(), testing::ElementsAre(HasSubstr("what was known of machines is lost"),
                                                HasSubstr("the history of capacity")));
}

}  // namespace
}  // namespace taut::server
