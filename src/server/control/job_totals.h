// Sums over the jobs of a list, and over those with the same value of a label or of a property such as size.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/control/fleet_view.h"

namespace taut::server {

// One resource over all tasks, cores or bytes. A job counts for a figure where it is known, and for a saving
// where both of its sides are.
struct TotalAmounts {
  double usage = 0, owner_limit = 0, limit = 0, would_be = 0;
  double saved = 0, would_save = 0;  // of what is billed, as FleetSums
  RequestSums requests;
  // Of the last 7 days: job-days with a recommended limit, and those that went above it.
  uint64_t job_days = 0, job_days_over = 0;
  // Recommenders' forecasts of a day above the limits recommended now, over the jobs that have one.
  double chances = 0;
  uint64_t jobs_with_chance = 0;

  std::optional<double> mean_chance() const {
    return jobs_with_chance > 0 ? std::optional(chances / static_cast<double>(jobs_with_chance))
                                : std::nullopt;
  }
};

struct JobTotals {
  uint64_t jobs = 0, tasks = 0;
  uint64_t not_measured = 0;    // of jobs, those that were not in the last window: in no sum, as in Fleet
  uint64_t whole_machines = 0;  // jobs beside these, in no sum
  PerResource<TotalAmounts> amounts;  // by Resource
  ReplicaSums replicas;

  // `now_s`: the end of the last window.
  void Add(const JobView& job, int64_t now_s);
};

// The properties of jobs that stand for a label: ":class", ":tasks", and of each resource its size, as
// ":cpu_size": the owner's limit of a task, or the recommended one where the owner set none.
const std::vector<std::string>& GroupProperties();

struct GroupTotals {
  std::optional<std::string> value;  // nullopt: of the jobs without the label, or whose property is not known
  JobTotals totals;
};

// Of the jobs that fit `search` and `mode` (as in JobsQuery), for each value of `by`, a label or one of
// GroupProperties. Of a label first those that would save most, all resources as shares of what all owners
// ask for, then by value; of a property in its own order, what is not known last. O(jobs).
std::vector<GroupTotals> TotalsBy(const FleetView& view, std::string_view by, const JobsQuery& which);
// The names of all jobs' labels, ascending.
std::vector<std::string> LabelNames(const FleetView& view);

}  // namespace taut::server
