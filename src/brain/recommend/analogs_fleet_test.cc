// Tests that copying, saving and loading a fleet of analogs changes neither its forecasts nor its prices.
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "brain/recommend/analogs.h"
#include "brain/recommend/flat_fleet_fixture.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// A forecaster returns the forecasts of its source, also before the source is ready.
TEST(AnalogFleetState, AForecasterForecastsAsItsFleetDoes) {
  AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  FleetRows rows(10);
  for (FleetRow& row : rows) {
    row.warning_came_true = true;
    row.tomorrow.owner_limit = kUsual;
  }
  fleet.CloseDay(kFirst, rows);
  EXPECT_DOUBLE_EQ(fleet.warning_hazard(), 11.0 / 20);
  for (const double share : {0.03, 0.2}) {
    const AnalogFleet copy = fleet.ForecasterFor(share);
    ASSERT_TRUE(copy.ready());
    EXPECT_EQ(copy.Forecast(AnalogCase()).at, fleet.Forecast(AnalogCase()).at);
    EXPECT_EQ(copy.warning_hazard(), fleet.warning_hazard());
    EXPECT_EQ(copy.mean_limit(), kUsual);
    EXPECT_EQ(copy.price(), kDear) << "a price that is set is no share's";
    EXPECT_EQ(copy.settings().memory_oom_days, share);
  }
  EXPECT_FALSE(AnalogFleet(Resource::kMemory, AnalogSettings()).ForecasterFor(0.2).ready());
}

// A restart does not change the price of another target share, because stored priced jobs keep their price
// factors.
TEST(AnalogFleetState, PricedJobsKeepTheirFactors) {
  AnalogSettings settings;
  settings.memory_oom_days = 0.1;
  settings.solver_jobs = 1;
  settings.max_overrun_chance = 0.5;
  const AnalogFleet fleet = SpreadFleet(settings, 4);
  ASSERT_TRUE(fleet.ready());
  std::string bytes;
  ByteWriter out(&bytes);
  fleet.Save(out);
  const auto load = [&](const std::string& state, AnalogFleet& into) {
    ByteReader in(state);
    const absl::Status status = into.Load(in);
    EXPECT_TRUE(!status.ok() || in.remaining() == 0);
    return status;
  };
  AnalogFleet loaded(Resource::kMemory, settings);
  ASSERT_TRUE(load(bytes, loaded).ok());
  std::string again;
  ByteWriter rewritten(&again);
  loaded.Save(rewritten);
  EXPECT_EQ(again, bytes);
  EXPECT_EQ(loaded.ForecasterFor(0.2).price(), fleet.ForecasterFor(0.2).price());
  // The price factor is the last field of the one priced job, before the forest.
  std::string forest;
  ByteWriter trees(&forest);
  fleet.forest().Save(trees);
  const size_t factor = bytes.size() - forest.size() - sizeof(double);
  double stored = 0;
  std::memcpy(&stored, bytes.data() + factor, sizeof(stored));
  ASSERT_EQ(stored, 4);
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    std::string damaged = bytes;
    std::memcpy(damaged.data() + factor, &bad, sizeof(bad));
    EXPECT_EQ(load(damaged, loaded).code(), absl::StatusCode::kDataLoss) << bad;
  }
}

// The configured seed determines the forest.
TEST(AnalogFleetState, AnotherSeedTrainsAnotherForest) {
  const auto forest = [](uint64_t seed) {
    AnalogSettings settings = AnalogsAtPrice(kDear);
    settings.seed = seed;
    AnalogFleet fleet(Resource::kMemory, settings);
    for (int32_t day = 0; day < kFirst; ++day) {
      FleetRows rows(60);
      for (size_t i = 0; i < rows.size(); ++i)
        rows[i].lesson = FleetLesson{.features = {}, .outcome = 0.01F * static_cast<float>(i)};
      fleet.CloseDay(day, rows);
    }
    std::string bytes;
    ByteWriter out(&bytes);
    fleet.forest().Save(out);
    return bytes;
  };
  EXPECT_EQ(forest(1), forest(1));
  EXPECT_NE(forest(1), forest(2));
}

}  // namespace
}  // namespace taut::brain
