// Sums over the jobs of a list, and over those with the same value of a label.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/fleet_view.h"

namespace taut {

// One resource over all tasks, cores or bytes. A job counts for a figure where it is known, and for a saving
// where both of its sides are.
struct TotalAmounts {
  double usage = 0, owner_limit = 0, limit = 0, would_be = 0, saved = 0, would_save = 0;
};

struct JobTotals {
  uint64_t jobs = 0, tasks = 0;
  std::array<TotalAmounts, 2> amounts;  // by Resource

  void Add(const JobView& job);
};

struct LabelTotals {
  std::optional<std::string> value;  // nullopt: of the jobs without the label
  JobTotals totals;
};

// Of the jobs that fit `search` and `mode` (as in JobsQuery), for each value of `label`: first those that
// would save most, both resources as shares of what all owners ask for; then by value. O(jobs).
std::vector<LabelTotals> TotalsByLabel(const FleetView& view, std::string_view label, const JobsQuery& which);
// The names of all jobs' labels, ascending.
std::vector<std::string> LabelNames(const FleetView& view);

}  // namespace taut
