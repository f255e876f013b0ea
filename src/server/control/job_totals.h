// Totals over the jobs of a list, and over groups of jobs with the same label or property, such as size.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/control/fleet_view.h"

namespace taut::server {

// Amounts of one resource over all tasks, cores or bytes. A sum includes the jobs for which its amount is
// known; a saving includes the jobs for which both amounts are known.
struct TotalAmounts {
  double usage = 0, owner_limit = 0, limit = 0, would_be = 0;
  double saved = 0, would_save = 0;  // differences of billed amounts (FleetSums)
  RequestSums requests;
  // Job-days with a recommended limit in the last 7 days, and the number of these days with usage above the
  // limit.
  uint64_t job_days = 0, job_days_over = 0;
  // Sum, over jobs with a forecast, of the chance that a day's usage exceeds the present recommended limit.
  double chances = 0;
  uint64_t jobs_with_chance = 0;

  // Returns the mean chance that a day's usage exceeds the limit; nullopt if no job has a forecast.
  std::optional<double> mean_chance() const {
    return jobs_with_chance > 0 ? std::optional(chances / static_cast<double>(jobs_with_chance))
                                : std::nullopt;
  }
};

struct JobTotals {
  uint64_t jobs = 0, tasks = 0;
  uint64_t not_measured = 0;    // jobs without usage in the last window; no sum includes them
  uint64_t whole_machines = 0;  // IsWholeMachine jobs; no sum includes them
  PerResource<TotalAmounts> amounts;
  ReplicaSums replicas;

  // Adds a job to the totals. `now_s`: end of the last window.
  void Add(const JobView& job, int64_t now_s);
};

// Returns the properties by which TotalsBy can group jobs instead of a label: ":class", ":tasks", and a size
// for each resource, such as ":cpu_size". The size of a job is its owner's limit of a task, else the
// recommended limit.
const std::vector<std::string>& GroupProperties();

struct GroupTotals {
  std::optional<std::string> value;  // common value; nullopt: no such label, or an unknown property
  JobTotals totals;
};

// Returns the totals of the jobs that match `search` and `mode` of `which`, for each value of `by`: a label
// or one of GroupProperties. Values of a label are in order of the saving (all resources, as shares of
// owners' limits), then of the value. Values of a property are in the order of the property; the unknown
// value is last. O(jobs).
std::vector<GroupTotals> TotalsBy(const FleetView& view, std::string_view by, const JobsQuery& which);
// Returns the names of all jobs' labels, ascending. O(jobs).
std::vector<std::string> LabelNames(const FleetView& view);

}  // namespace taut::server
