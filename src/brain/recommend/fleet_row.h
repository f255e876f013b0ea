// The report of a job to the fleet model at the end of a day: the features at the start of the day, the outcome,
// and the job's current state.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "brain/recommend/boosted_row.h"
#include "common/base/bytes.h"

namespace taut::brain {

inline constexpr int kFleetFeatures = 29;
using FleetFeatures = std::array<float, kFleetFeatures>;  // values by feature; NaN: missing

// A job's own past peaks as bins of the grid, with weights.
struct OwnHistory {
  static constexpr int kMax = 28;
  std::array<uint8_t, kMax> bin{};
  std::array<float, kMax> weight{};
  uint8_t size = 0;
};

// The input of a decision on one job.
struct AnalogCase {
  FleetFeatures features{};
  OwnHistory own;
  double week_peak = 0;     // M: highest peak of the last 7 job-days
  double floor = 0;         // lower bound of the limit
  double kept_limit = -1;   // the limit in force; < 0: none
  double owner_limit = -1;  // the owner's limit; < 0: unknown
  double tasks = 1;         // number of tasks with the limit; at least 1
  double price_factor = 1;  // cost of an overrun, as a factor of the fleet's price

  // Version of the bytes that Save writes. Version 1 has no number of tasks, version 2 no price factor.
  static constexpr uint8_t kVersion = 4;
  void Save(ByteWriter& out) const;
  // Reads the bytes that Save of version `version` wrote. Returns false for bytes that Save cannot have written.
  bool Load(ByteReader& in, uint8_t version);
};

// A finished job-day for training: the features at its start and the outcome.
struct FleetLesson {
  FleetFeatures features{};
  // ln((peak of the day + E) / (M + E)), where M is AnalogCase::week_peak and E is AnalogLevel()
  float outcome = 0;
};

// The promise and outcome of the limit that analogs had in force on a day.
struct FleetVerdict {
  float promised = 0;  // P(peak > limit) at the time of the decision
  bool overrun = false;
};

// A job's day under the work function, in core-windows or byte-windows.
struct FleetWork {
  double over = 0;        // usage above the limits in force
  double used = 0;        // usage below and above the limits
  double size = 0;        // the owner's limit; the day's peak if there is no owner's limit
  bool seasoned = false;  // true once the job has enough history to change the price
};

// A row of analogs or, if `work` or `boosted` is set, of the work function or the boosted recommender.
struct FleetRow {
  uint64_t job = 0;                     // hash of the job's name, by which the models draw samples
  std::optional<FleetLesson> lesson;    // last finished day; absent on a job's first day
  std::optional<FleetVerdict> verdict;  // outcome of the limit; absent if analogs had no limit in force
  // Set if usage came close to the limit on this day: true if usage exceeded the limit within the following hours.
  std::optional<bool> warning_came_true;
  AnalogCase tomorrow;     // the job at its latest decision or at the next midnight
  bool own_order = false;  // true: the job has its own target share, and does not change the fleet's price
  std::optional<FleetWork> work;
  std::optional<BoostedRow> boosted;
};
using FleetRows = std::vector<FleetRow>;

}  // namespace taut::brain
