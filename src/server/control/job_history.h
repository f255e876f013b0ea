// A job's stored past as pictures want it: a heatmap of usage with the limits over it.
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
    float share = 0;  // of the column's weight
  };
  int64_t column_s = kWindowSeconds;
  std::vector<int64_t> time_s;  // starts of the columns that have usage, ascending
  std::vector<double> buckets;  // upper bounds of the rows, ascending: neighbours in the grid
  std::vector<Cell> cells;      // by column, then row
  std::vector<std::optional<double>> limit, owner_limit, would_be;  // a column, at its end
  // Memory: the most that a task needed in a window of the column, as probed; absent: not known of any.
  std::vector<std::optional<double>> needed;
};

struct HeatmapQuery {
  Resource resource = Resource::kMemory;
  int64_t from_s = 0, to_s = 0;  // [from, to)
  int columns = 336;             // at most
};
// `days` as History::JobDays gives them, `decisions` of the job oldest first, from the beginning of what is
// stored. What the limits were before the first decision is not known: the owner's.
Heatmap MakeHeatmap(const HeatmapQuery& query, std::span<const JobDay> days,
                    std::span<const Decision> decisions);

// The limit in force and the would-be limit as steps in time.
class LimitSteps {
 public:
  // Oldest first; those of other resources are skipped.
  LimitSteps(std::span<const Decision> decisions, Resource resource);
  // At an instant, given the owner's limit then.
  std::optional<double> LimitAt(int64_t time_s, std::optional<double> owner) const;
  std::optional<double> WouldBeAt(int64_t time_s, std::optional<double> owner) const;

 private:
  struct Step {
    int64_t from_s = 0;
    std::optional<double> value;  // absent: the owner's
  };
  static std::optional<double> At(const std::vector<Step>& steps, int64_t time_s,
                                  std::optional<double> owner);
  std::vector<Step> limits_, would_be_;
};

}  // namespace taut::server
