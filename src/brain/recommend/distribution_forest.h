// A random forest that forecasts a whole distribution. Each leaf stores the outcomes of its training job-days; the
// forecast is the average of the leaves' distributions over the trees. Job-days are "similar" if they share a
// leaf, so that a forecast can be explained: "of 412 similar job-days, 9 peaked above this limit".
//
// Quantile regression forest (Meinshausen, JMLR 7, 2006) with a CRPS split: it selects the split that sharpens the
// distribution most, summed over 15 quantiles of the outcome. More of these quantiles are in the upper tail, where
// limits are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "brain/recommend/analog_grid.h"
#include "brain/recommend/fleet_row.h"
#include "common/base/bytes.h"

namespace taut::brain {

struct ForestSettings {
  int trees = 64;
  int features_per_split = 8;
  int min_leaf = 10;
  int max_depth = 12;
  double bag = 0.632;  // share of rows that each tree uses, drawn without replacement
};

class DistributionForest {
 public:
  static constexpr int kFeatureBins = 32;  // number of bins per feature; bin 0 contains missing values

  struct Row {
    FleetFeatures features{};
    float outcome = 0;
  };

  // Returns true if the forest has no trees: before the first Train or Load, and after a failed Load.
  bool empty() const { return trees_.empty(); }
  // Replaces the forest. Equal rows and seeds yield equal forests. O(trees * rows * depth * features_per_split).
  void Train(std::span<const Row> rows, const ForestSettings& settings, uint64_t seed);
  // Writes the forecast share of each grid bin; the shares sum to 1. Takes about 5 us. REQUIRES: !empty().
  void Predict(const FleetFeatures& features, std::span<float, AnalogGrid::kBins> shares) const;

  // Returns the outcomes of the distinct training rows that share a leaf with `features`. Used for explanations;
  // slow.
  std::vector<float> SimilarOutcomes(const FleetFeatures& features) const;
  // Returns the number of rows of SimilarOutcomes.
  size_t CountSimilar(const FleetFeatures& features) const { return SimilarRows(features).size(); }

  size_t rows() const { return outcomes_.size(); }
  size_t state_bytes() const;

  void Save(ByteWriter& out) const;
  // Returns DataLoss, and leaves the forest empty, for bytes that Save cannot have written. A loaded forest
  // is safe to use.
  absl::Status Load(ByteReader& in);

 private:
  // Returns distinct row numbers in ascending order.
  std::vector<uint32_t> SimilarRows(const FleetFeatures& features) const;

  struct Node {
    // An inner node sends rows with bin <= threshold to `child`, other rows to child + 1. A leaf (feature < 0) has
    // `count` members from `child` on.
    int8_t feature = -1;
    uint8_t threshold = 0;
    uint16_t unused = 0;
    uint32_t child = 0;
    uint32_t count = 0;
  };
  struct Tree {
    std::vector<Node> nodes;
    std::vector<uint32_t> members;  // row numbers, leaf by leaf
    std::vector<uint8_t> bins;      // outcome bins of the members
  };
  class Builder;

  using Binned = std::array<uint8_t, kFleetFeatures>;
  Binned BinsOf(const FleetFeatures& features) const;
  const Node& Leaf(const Tree& tree, const Binned& bins) const;
  static bool LoadTree(ByteReader& in, size_t rows, Tree& tree);

  // Ascending edges of the bins by feature. The bin of a value is 1 + the number of edges below the value.
  std::array<std::vector<float>, kFleetFeatures> edges_;
  std::vector<Tree> trees_;
  std::vector<float> outcomes_;
};

}  // namespace taut::brain
