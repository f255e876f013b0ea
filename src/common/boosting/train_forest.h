// Trains boosted forests with XGBoost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/boosting/boosted_forest.h"

namespace taut {

struct BoostingSettings {
  int trees = 150;
  int leaves = 31;  // of a tree, at most
  double learning_rate = 0.1;
  double rows_per_tree = 0.7;    // share of the rows that each tree uses
  double features_per_tree = 1;  // share of the features that each tree uses
  double least_weight = 0.1;     // least sum of p (1 - p) over the rows of a leaf
  double ridge = 1;              // L2 penalty of a leaf's score
  int bins = 128;                // bins of a feature
};

// Rows for training. `cells` has features + 1 values a row: the features (missing: NaN), then the threshold x.
struct BoostingRows {
  size_t features = 0;
  std::vector<float> cells;
  std::vector<float> shares;  // share of the row's outcomes above x, in [0, 1]
};

// Returns a forest of logistic regression whose forecast falls with the threshold. Equal rows, settings and seeds
// yield equal forests. Computes on the caller's thread alone: about 100 s for 10 million cells. InvalidArgument
// for no rows, Internal with XGBoost's message if the training fails.
absl::StatusOr<BoostedForest> TrainForest(const BoostingRows& rows, std::span<const float> grid,
                                          const BoostingSettings& settings, uint64_t seed);

}  // namespace taut
