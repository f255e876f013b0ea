// Stored history of a job's usage as a heatmap, with the job's limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/model/resource.h"
#include "common/model/rollout.h"
#include "common/model/usage.h"

namespace taut::server {

struct Heatmap {
  struct Cell {
    uint32_t column = 0, row = 0;
    float share = 0;  // share of the column's weight in this cell
  };
  int64_t column_s = kWindowSeconds;
  std::vector<int64_t> time_s;  // starts of the columns that have usage, ascending
  std::vector<double> buckets;  // upper bounds of the rows, ascending: consecutive grid buckets
  std::vector<Cell> cells;      // order: column, then row
  std::vector<std::optional<double>> limit, owner_limit, would_be;  // limits at the end of each column
  // Memory only: the greatest probed need of a task in a window of the column; absent: not known for any
  // task.
  std::vector<std::optional<double>> needed;
};

struct HeatmapQuery {
  Resource resource = Resource::kMemory;
  int64_t from_s = 0, to_s = 0;  // the shown times are in [from_s, to_s)
  int columns = 336;             // maximum number of columns
};
// Computes the heatmap. `days`: from History::JobDays. `decisions`: decisions of the job, oldest first, from the
// first stored decision on. Before the first decision, the limit is absent and the owner's limit is shown.
// O(windows · buckets).
Heatmap MakeHeatmap(const HeatmapQuery& query, std::span<const JobDay> days,
                    std::span<const Decision> decisions);

// The limit in force and the would-be limit, as step functions of time.
class LimitSteps {
 public:
  // `decisions` are oldest first; decisions for other resources are skipped.
  LimitSteps(std::span<const Decision> decisions, Resource resource);
  // Returns the limit at an instant; `owner` is the owner's limit at this instant.
  std::optional<double> LimitAt(int64_t time_s, std::optional<double> owner) const;
  std::optional<double> WouldBeAt(int64_t time_s, std::optional<double> owner) const;

 private:
  struct Step {
    int64_t from_s = 0;
    std::optional<double> value;  // limit from the step on; absent: the owner's limit applies
  };
  static std::optional<double> At(const std::vector<Step>& steps, int64_t time_s,
                                  std::optional<double> owner);
  std::vector<Step> limits_, would_be_;
};

}  // namespace taut::server
