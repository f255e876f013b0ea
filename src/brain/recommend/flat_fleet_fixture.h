// Fleets for tests of analogs whose results can be computed by hand. In a flat fleet, every day's peak equals
// the peak of the week before, so that a job's limit is its week's peak.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "brain/recommend/analogs.h"
#include "brain/recommend/made_signal.h"
#include "gtest/gtest.h"

namespace taut::brain {

inline constexpr double kUsual = 1000 * kMiB;
inline constexpr int32_t kFirst = 8;   // the job's first day; the fleet is ready on this day
inline constexpr double kDear = 1e11;  // highest price at which rounding a zero chance has no cost

inline AnalogSettings AnalogsAtPrice(double price) {
  AnalogSettings s;
  s.memory_price_bytes = price;
  s.cpu_price_cores = price / 1e9;
  return s;
}

// Returns a ready fleet in which every day's peak equals the peak of the week before.
inline AnalogFleet FlatFleet(Resource r, const AnalogSettings& settings, double owner_limit = kUsual) {
  AnalogFleet fleet(r, settings);
  for (int32_t day = 0; day < kFirst; ++day) {
    FleetRows rows(50);
    for (FleetRow& row : rows) {
      row.lesson = FleetLesson{.features = {}, .outcome = 0};
      row.tomorrow.owner_limit = owner_limit;
    }
    fleet.CloseDay(day, rows);
  }
  EXPECT_TRUE(fleet.ready());
  return fleet;
}

// Returns outcome i: ln(peak / week's peak), from 0 to 0.59.
inline float Spread(int i) { return static_cast<float>(0.01 * (i % 60)); }

// Returns a ready fleet for memory whose outcomes are uniform over the values of Spread.
inline AnalogFleet SpreadFleet(const AnalogSettings& settings, double price_factor = 1) {
  AnalogFleet fleet(Resource::kMemory, settings);
  for (int32_t day = 0; day < kFirst; ++day) {
    FleetRows rows(60);
    for (int i = 0; i < 60; ++i) {
      FleetRow& row = rows[static_cast<size_t>(i)];
      row.lesson = FleetLesson{.features = {}, .outcome = Spread(i)};
      row.tomorrow.week_peak = kUsual;
      row.tomorrow.price_factor = price_factor;
    }
    fleet.CloseDay(day, rows);
  }
  EXPECT_TRUE(fleet.ready());
  return fleet;
}

inline void Use(AnalogsRecommender& r, int32_t window, double usage, uint32_t tasks = 1,
                std::optional<double> owner = {}, Resource resource = Resource::kMemory) {
  std::vector<TaskUsage> all;
  for (uint32_t t = 0; t < tasks; ++t)
    all.push_back({t, static_cast<float>(usage), static_cast<float>(usage)});
  r.Observe(MadeSignal(resource, window, all, owner));
}

// Simulates the first day under the owner's limit and begins the next day. Returns the next day's first window.
inline int32_t LiveFirstDay(AnalogsRecommender& r, double usual = kUsual, uint32_t tasks = 1,
                            std::optional<double> owner = {}, Resource resource = Resource::kMemory) {
  FleetRows rows;
  r.StartDay(kFirst);
  for (int32_t i = 0; i < 5; ++i)
    Use(r, kFirst * kWindowsPerDay + i, i == 0 ? usual : usual / 2, tasks, owner, resource);
  r.EndDay(kFirst, rows);
  r.StartDay(kFirst + 1);
  return (kFirst + 1) * kWindowsPerDay;
}

}  // namespace taut::brain
