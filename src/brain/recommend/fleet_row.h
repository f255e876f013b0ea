// What a job tells the fleet model at the end of a day: what was known when the day began, what then
// happened, and where the job stands now.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace taut::brain {

inline constexpr int kFleetFeatures = 29;
using FleetFeatures = std::array<float, kFleetFeatures>;  // NaN: missing

// A job's own past peaks as levels of the grid, each with its weight.
struct OwnHistory {
  static constexpr int kMax = 28;
  std::array<uint8_t, kMax> bin{};
  std::array<float, kMax> weight{};
  uint8_t size = 0;
};

// A job as a decision sees it.
struct AnalogCase {
  FleetFeatures features{};
  OwnHistory own;
  double week_peak = 0;     // M: highest peak of the last 7 job-days
  double floor = 0;         // no limit below
  double kept_limit = -1;   // the limit in force; < 0: none
  double owner_limit = -1;  // < 0: unknown
  double tasks = 1;         // that have the limit, each; at least 1
  double price_factor = 1;  // AnalogJob's
};

// A job-day that ended: what was known when it began, and what then happened.
struct FleetLesson {
  FleetFeatures features{};
  float outcome = 0;  // ln((peak of the day + E) / (M + E))
};

// How the limit that analogs had in force on a day did.
struct FleetVerdict {
  float promised = 0;  // P(peak > limit) when it was chosen
  bool overrun = false;
};

// A job's day under the work function, in windows of its resource.
struct FleetWork {
  double over = 0;        // usage above the limits in force
  double used = 0;        // all usage
  double size = 0;        // the owner's limit; the day's peak where there is none
  bool seasoned = false;  // old enough to move the price, which is for it
};

// A row is of analogs or, with `work`, of the work function.
struct FleetRow {
  std::optional<FleetLesson> lesson;    // absent on a job's first day
  std::optional<FleetVerdict> verdict;  // absent if analogs had no limit in force
  // Usage came close under the limit that day: did it pass it within the hours after? Absent if it never came
  // close.
  std::optional<bool> warning_came_true;
  AnalogCase tomorrow;     // the job at its latest decision, or at the next midnight
  bool own_order = false;  // its risk is ordered by itself: the fleet's price is not for it
  std::optional<FleetWork> work;
};
using FleetRows = std::vector<FleetRow>;

}  // namespace taut::brain
