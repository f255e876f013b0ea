// Tests of a forecast's distribution, and of a model's forecasts for simple loads.
#include "brain/replicas/load_model.h"

#include <array>
#include <cmath>

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// Returns P(z > lower edge of bin b) for z uniform over [-1, 1]. Bins have a width of a quarter and begin at -4.
std::array<float, kErrorBins> Even() {
  std::array<float, kErrorBins> above{};
  for (size_t b = 0; b < kErrorBins; ++b) {
    const double edge = -4 + 0.25 * static_cast<double>(b);
    above[b] = static_cast<float>(edge <= -1 ? 1 : edge >= 1 ? 0 : (1 - edge) / 2);
  }
  return above;
}

// Returns the load whose log(load + 0.5) is `log_load`.
double LoadAt(double log_load) { return std::exp(log_load) - 0.5; }

TEST(LoadForecast, ChancesAreThoseOfTheErrors) {
  const std::array<float, kErrorBins> above = Even();
  const LoadForecast load{.centre = 2, .spread = 0.5, .above = &above};
  EXPECT_DOUBLE_EQ(load.Median(), LoadAt(2));
  EXPECT_NEAR(load.ChanceAbove(LoadAt(2)), 0.5, 1e-6);
  EXPECT_NEAR(load.ChanceAbove(LoadAt(2.25)), 0.25, 1e-6);
  EXPECT_NEAR(load.ChanceAbove(LoadAt(2.3125)), 0.1875, 1e-6) << "in the middle of a bin";
  EXPECT_NEAR(load.ChanceAbove(LoadAt(1.75)), 0.75, 1e-6);
  EXPECT_EQ(load.ChanceAbove(LoadAt(2.6)), 0);
  EXPECT_EQ(load.ChanceAbove(0), 1);
  for (const double chance : {0.9, 0.5, 0.3, 0.1})
    EXPECT_NEAR(std::log(load.WithChanceAbove(chance) + 0.5), 2 + 0.5 * (1 - 2 * chance), 1e-3) << chance;
  const LoadForecast idle{.centre = -3, .spread = 0.5, .above = &above};
  EXPECT_EQ(idle.Median(), 0) << "no load is below 0";
  EXPECT_EQ(idle.WithChanceAbove(0.1), 0);
}

// Beyond the last bin, and thus beyond all observed errors, the chance halves per spread.
TEST(LoadForecast, BeyondWhatWasSeenTheChanceHalves) {
  std::array<float, kErrorBins> above{};
  above.fill(0.25F);
  const LoadForecast load{.centre = 0, .spread = 0.1, .above = &above};
  const double last = -4 + 0.25 * (kErrorBins - 1);
  EXPECT_NEAR(load.ChanceAbove(LoadAt(0.1 * last)), 0.25, 1e-6);
  EXPECT_NEAR(load.ChanceAbove(LoadAt(0.1 * (last + 1))), 0.125, 1e-6);
  EXPECT_NEAR(load.ChanceAbove(LoadAt(0.1 * (last + 3))), 0.03125, 1e-6);
  EXPECT_EQ(load.ChanceAbove(LoadAt(-0.45)), 1) << "below all bins";
}

TEST(LoadModel, LearnsATrendAndTheTimeOfTheDay) {
  constexpr int kSlots = 96;
  LoadModel model(kSlots, 4);
  EXPECT_EQ(model.slots_per_day(), kSlots);
  EXPECT_EQ(model.steps_ahead(), 4);
  const auto load = [](int64_t step) {
    return 20 + 15 * std::sin(static_cast<double>(step) * 2 * M_PI / kSlots);
  };
  double worst_near = 0;
  double worst_far = 0;
  for (int64_t step = 0; step < 20 * kSlots; ++step) {
    model.Observe(step, load(step));
    EXPECT_EQ(model.observed(), step + 1);
    if (step < 14 * kSlots) continue;
    worst_near = std::max(worst_near, std::abs(std::log(model.At(false).Median() / load(step + 1))));
    worst_far = std::max(worst_far, std::abs(std::log(model.At(true).Median() / load(step + 4))));
  }
  EXPECT_LT(worst_near, 0.05);
  EXPECT_LT(worst_far, 0.1) << "an hour ahead the load has moved by up to a half";
}

}  // namespace
}  // namespace taut::brain
