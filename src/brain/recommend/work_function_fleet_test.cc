#include <cmath>
#include <string>
#include <vector>

#include "brain/recommend/work_function.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// Jobs with more work above their limits than the target raise the price, other jobs lower it; a wrong initial
// price is corrected.
TEST(WorkFunctionFleet, ThePriceFollowsTheOrder) {
  WorkFunctionSettings settings;
  settings.cpu_throttled = 0.002;
  for (const double delivered : {0.0002, 0.02}) {
    WorkFunctionFleet fleet(Resource::kCpu, settings);
    const double start = fleet.price();
    FleetRow row;
    row.work = FleetWork{.over = delivered * 1000, .used = 1000, .size = 4, .seasoned = true};
    for (int day = 0; day < 30; ++day) fleet.CloseDay(FleetRows(100, row));
    if (delivered > settings.cpu_throttled) {
      EXPECT_GT(fleet.price(), 1.5 * start);
    } else {
      EXPECT_LT(fleet.price(), start / 1.5);
    }
    ASSERT_TRUE(fleet.share_over().has_value());
    EXPECT_NEAR(*fleet.share_over(), delivered, 1e-9);
    FleetRow young = row;
    young.work->seasoned = false;
    WorkFunctionFleet calm(Resource::kCpu, settings);
    for (int day = 0; day < 30; ++day) calm.CloseDay({young});
    EXPECT_EQ(calm.price(), start) << "young jobs do not move it";
    EXPECT_FALSE(calm.share_over().has_value());
    EXPECT_DOUBLE_EQ(calm.change_charge(99), 4 * calm.change_windows());
  }
}

// Another target share starts from the learnt price.
TEST(WorkFunctionFleet, AnotherOrderMovesThePriceThatWasLearnt) {
  WorkFunctionSettings settings;
  settings.cpu_throttled = 0.001;
  WorkFunctionFleet fleet(Resource::kCpu, settings);
  FleetRow row;
  row.work = FleetWork{.over = 10, .used = 1000, .size = 4, .seasoned = true};
  for (int day = 0; day < 20; ++day) fleet.CloseDay(FleetRows(100, row));
  WorkFunctionSettings looser = settings;
  looser.cpu_throttled = 0.005;
  const double learnt = fleet.price() / WorkFunctionFleet(Resource::kCpu, settings).price();
  EXPECT_GT(learnt, 1.2);
  const WorkFunctionFleet other = fleet.With(looser);
  EXPECT_NEAR(other.price() / WorkFunctionFleet(Resource::kCpu, looser).price(), learnt, 1e-9);
  std::string bytes;
  ByteWriter out(&bytes);
  fleet.Save(out);
  WorkFunctionFleet loaded(Resource::kCpu, looser);
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_NEAR(loaded.price(), other.price(), 1e-9 * other.price());
  WorkFunctionSettings fixed = settings;
  fixed.price = 77;
  EXPECT_EQ(fleet.With(fixed).price(), 77);
}

std::string Saved(const WorkFunctionFleet& fleet) {
  std::string bytes;
  ByteWriter out(&bytes);
  fleet.Save(out);
  return bytes;
}

TEST(WorkFunctionFleet, IsSavedAndDamageIsFound) {
  WorkFunctionFleet fleet(Resource::kCpu, WorkFunctionSettings());
  FleetRow row;
  row.work = FleetWork{.over = 5, .used = 1000, .size = 4, .seasoned = true};
  fleet.CloseDay({row});
  const std::string bytes = Saved(fleet);
  WorkFunctionFleet again(Resource::kCpu, WorkFunctionSettings());
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_EQ(again.price(), fleet.price());
  ByteReader half(std::string_view(bytes).substr(0, 20));
  EXPECT_FALSE(again.Load(half).ok());
  EXPECT_EQ(Saved(again), bytes) << "what could not be loaded changed nothing";
}

// A copy and a checkpoint keep the fleet's price, mean size, and the sums to which the next day is added.
TEST(WorkFunctionFleet, GoesOnFromACheckpointAndFromACopy) {
  WorkFunctionSettings settings;
  settings.cpu_throttled = 0.001;
  WorkFunctionFleet fleet(Resource::kCpu, settings);
  FleetRow row;
  row.work = FleetWork{.over = 5, .used = 1000, .size = 4, .seasoned = true};
  fleet.CloseDay({row});
  WorkFunctionFleet loaded(Resource::kCpu, settings);
  const std::string bytes = Saved(fleet);
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  WorkFunctionFleet copy = fleet.With(settings);
  row.work = FleetWork{.over = 1, .used = 3000, .size = 7, .seasoned = true};
  for (WorkFunctionFleet* f : {&loaded, &copy}) {
    EXPECT_DOUBLE_EQ(f->change_charge(99), fleet.change_charge(99));
    EXPECT_EQ(f->share_over(), fleet.share_over());
  }
  fleet.CloseDay({row});
  for (WorkFunctionFleet* f : {&loaded, &copy}) {
    f->CloseDay({row});
    EXPECT_EQ(Saved(*f), Saved(fleet));
  }
}

TEST(WorkFunctionFleet, RefusesImpossibleSums) {
  // Target share, price, mean size, work above the limits, all work.
  const std::vector<double> possible = {0.001, 500, 4, 5, 1000};
  const auto loads = [](const std::vector<double>& values) {
    std::string bytes;
    ByteWriter out(&bytes);
    for (const double v : values) out.Put(v);
    WorkFunctionFleet fleet(Resource::kCpu, WorkFunctionSettings());
    ByteReader in(bytes);
    return fleet.Load(in).ok();
  };
  EXPECT_TRUE(loads(possible));
  for (size_t i = 0; i < possible.size(); ++i) {
    for (const double wrong : {-1.0, HUGE_VAL, std::nan("")}) {
      std::vector<double> values = possible;
      values[i] = wrong;
      EXPECT_FALSE(loads(values)) << i << ": " << wrong;
    }
    std::vector<double> none = possible;
    none[i] = 0;
    EXPECT_EQ(loads(none), i >= 2) << i;
  }
}

}  // namespace
}  // namespace taut::brain
