// What one finished job-day teaches the fleet model: the features known when the day began and what then happened.
#pragma once

#include <array>
#include <vector>

namespace taut {

inline constexpr int kFleetFeatures = 24;

struct FleetRow {
  std::array<float, kFleetFeatures> features{};
  float outcome = 0;
};
using FleetRows = std::vector<FleetRow>;

}  // namespace taut
