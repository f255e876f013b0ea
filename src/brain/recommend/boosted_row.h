// The report of a job to the boosted fleet model at the end of a day: lessons for training, the day's promise and
// outcome, and the input of the job's
// latest decision.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/bytes.h"

namespace taut::brain {

inline constexpr int kBoostedFeatures = 39;
using BoostedFeatures = std::array<float, kBoostedFeatures>;  // values by feature; NaN: missing

// Number of points of BoostedGrid().
inline constexpr int kBoostedPoints = 64;

// A finished period: the features at its start and the outcomes. An outcome is ln((usage + E) / (M + E)), where M
// is the highest usage of the 7 days before the period and E is AnalogLevel().
struct BoostedLesson {
  static constexpr int kMost = 12;
  BoostedFeatures features{};
  // Memory: the outcome of the period's peak. CPU: the outcome of each window.
  std::array<float, kMost> outcomes{};
  uint8_t size = 0;  // number of outcomes

  static constexpr size_t kLeastBytes = sizeof(BoostedFeatures) + 1 + sizeof(float);  // minimum stored size
  void Save(ByteWriter& out) const;
  // Returns false for bytes that Save cannot have written.
  bool Load(ByteReader& in);
};

// The input of a decision on one job.
struct BoostedCase {
  BoostedFeatures features{};
  double week_peak = 0;     // M
  double floor = 0;         // lower bound of the limit
  double ceiling = 0;       // upper bound of the limit
  double tasks = 1;         // number of tasks with the limit, at least 1
  double price_factor = 1;  // cost of an overrun, as a factor of the fleet's price
  double use = 0;           // mean usage of a task in the last day

  static constexpr size_t kLeastBytes = sizeof(BoostedFeatures);  // lower bound of the stored size
  void Save(ByteWriter& out) const;
  bool Load(ByteReader& in);
};

// The promise and outcome of a job's day. For resources that kill, the unit of harm is an OOM-day and `weight` is
// 1. For resources that throttle, harm is work above the limits and `weight` is all work, in core-windows.
struct BoostedVerdict {
  double promised = 0;  // forecast harm at the limits in force
  double harm = 0;      // harm at the limits in force
  double weight = 1;
};

struct BoostedRow {
  // Lessons that can still enter the sample, with their periods.
  std::vector<BoostedLesson> lessons;
  std::vector<int32_t> periods;
  uint32_t finished = 0;  // number of all lessons of the day
  double size = 0;        // the owner's limit; the week's peak if there is no owner's limit
  std::optional<BoostedVerdict> verdict;
  std::optional<BoostedCase> latest;  // input of the latest decision
  bool own_order = false;  // true: the job has its own target share, and does not change the fleet's price
};

}  // namespace taut::brain
