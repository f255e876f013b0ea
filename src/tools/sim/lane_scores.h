// The scores of a lane as named values: the columns of a replay's results in JSON and in Arrow tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/sim/replay.h"

namespace taut::tools {

struct LaneScore {
  std::string_view name;
  std::variant<std::monostate, uint64_t, double> value;  // monostate: undefined, such as a share of 0
  // True for an amount in the unit of the lane's resource (cores, bytes), or in that unit times seconds.
  bool is_amount = false;
};

// Returns the mean over the scored time of the sum of limits.
double MeanFootprint(const LaneResult& lane, int32_t first_scored_day);
// Returns the mean over the scored time of the sum of limits less usage.
double AbsoluteSlack(const LaneResult& lane, int32_t first_scored_day);

// Distribution of the OOM-days over the jobs. A single rate over all jobs would hide jobs that fail every day.
struct Concentration {
  uint64_t jobs = 0;        // number of scored jobs
  uint64_t with = 0;        // number of jobs with at least one OOM-day
  uint64_t once = 0;        // number of jobs with exactly one OOM-day
  uint64_t most_have = 0;   // 80th percentile of OOM-days over the jobs with OOM-days
  uint64_t worst_days = 0;  // maximum number of OOM-days of a job
  double worst_share = 0;   // highest share of OOM-days of a job with at least 7 days
  double of_worst_tenth = 0;
};
// Returns the distributions over all jobs. O(jobs).
ScoresByJob ByJob(const LaneResult& lane);
Concentration ConcentrationOf(const LaneResult& lane, const ScoresByJob& of);

// Returns all scores, in the order in which they are shown. docs/reference/formats.md describes them.
std::vector<LaneScore> LaneScores(const LaneResult& lane, int32_t first_scored_day);

}  // namespace taut::tools
