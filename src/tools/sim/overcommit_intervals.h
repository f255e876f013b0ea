// 95 % intervals of the scores of peak predictors, by resampling machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tools/sim/overcommit_replay.h"

namespace taut::tools {

struct ScoreInterval {
  double low = 0, high = 0;  // percentiles 2.5 and 97.5
};
struct ScoreIntervals {
  ScoreInterval footprint, below_share;
};

// Returns the number of machines that one placement of the tasks has, or the number of recorded machines with
// predictions. A predictor's score is at least as certain as the score of this number of machines: placements
// share tasks, but the mean over subsets of tasks varies at most like the mean over disjoint subsets (Hoeffding,
// 1948).
size_t IndependentMachines(const OvercommitResult& result);

// Returns the intervals of a row. Draws IndependentMachines() machines with replacement, each with all of its
// predictions. Rows of one result draw the same machines. nullopt if fewer than two machines have predictions.
std::optional<ScoreIntervals> IntervalsOf(const OvercommitResult& result, const OvercommitResult::Row& row);

}  // namespace taut::tools
