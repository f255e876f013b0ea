// Totals over the jobs of a list, and over those that share a label or a property such as size.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/control/fleet_view.h"

namespace taut::server {

// One resource over all tasks, cores or bytes. A job counts in a figure if that is known, and in a saving if
// both amounts are known.
struct TotalAmounts {
  double usage = 0, owner_limit = 0, limit = 0, would_be = 0;
  double saved = 0, would_save = 0;  // billed amounts, as in FleetSums
  RequestSums requests;
  // Last 7 days: job-days with a recommended limit, and those above it.
  uint64_t job_days = 0, job_days_over = 0;
  // Sum of the forecasts of a day above the present recommended limit, over jobs with a forecast.
  double chances = 0;
  uint64_t jobs_with_chance = 0;

  // Returns the mean forecast of a day above the limit; nullopt if no job has one.
  std::optional<double> mean_chance() const {
    return jobs_with_chance > 0 ? std::optional(chances / static_cast<double>(jobs_with_chance))
                                : std::nullopt;
  }
};

struct JobTotals {
  uint64_t jobs = 0, tasks = 0;
  uint64_t not_measured = 0;          // jobs without usage in the last window: in no sum, as in FleetView
  uint64_t whole_machines = 0;        // further jobs that are in no sum
  PerResource<TotalAmounts> amounts;  // by Resource
  ReplicaSums replicas;

  // `now_s`: the end of the last window.
  void Add(const JobView& job, int64_t now_s);
};

// Returns the properties that may stand for a label: ":class", ":tasks", and for each resource a size such as
// ":cpu_size". The size is the owner's limit of a task, else the recommended one.
const std::vector<std::string>& GroupProperties();

struct GroupTotals {
  std::optional<std::string> value;  // nullopt: jobs without the label, or with an unknown property
  JobTotals totals;
};

// Returns the totals of the jobs that match `search` and `mode` of `which`, for each value of `by`: a label
// or one of GroupProperties. Values of a label are ordered by saving (all resources, as shares of owners'
// limits), then by value. Values of a property have their own order, unknown last. O(jobs).
std::vector<GroupTotals> TotalsBy(const FleetView& view, std::string_view by, const JobsQuery& which);
// Returns the names of all jobs' labels, ascending. O(jobs).
std::vector<std::string> LabelNames(const FleetView& view);

}  // namespace taut::server
