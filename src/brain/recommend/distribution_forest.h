// A forest that forecasts a whole distribution: each leaf keeps the outcomes of the job-days that fell into
// it, and the forecast is their average over the trees. Co-membership in leaves is what "similar" means, so a
// forecast explains itself: "of 412 similar job-days, 9 peaked above this limit".
//
// Quantile regression forest (Meinshausen, JMLR 7, 2006) with a CRPS split: a split is taken where it
// sharpens the distribution most, summed over 15 quantiles of the outcome, more of them in the upper tail
// where limits lie.
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
  double bag = 0.632;  // share of rows a tree sees, drawn without replacement
};

class DistributionForest {
 public:
  static constexpr int kFeatureBins = 32;  // bin 0 is "missing"

  struct Row {
    FleetFeatures features{};
    float outcome = 0;
  };

  // Empty until trained.
  bool empty() const { return trees_.empty(); }
  // Replaces the forest. O(trees * rows * depth * features_per_split). The same rows and seed give the same
  // forest.
  void Train(std::span<const Row> rows, const ForestSettings& settings, uint64_t seed);
  // Adds each grid bin's forecast share; the shares sum to 1. REQUIRES: !empty(). 64 descents and small
  // leaves: ~5 us.
  void Predict(const FleetFeatures& features, std::span<float, AnalogGrid::kBins> shares) const;

  // The distinct training rows that share a leaf with `features`, as outcomes; for explanations, not for
  // speed.
  std::vector<float> SimilarOutcomes(const FleetFeatures& features) const;
  // How many these are.
  size_t CountSimilar(const FleetFeatures& features) const { return SimilarRows(features).size(); }

  size_t rows() const { return outcomes_.size(); }
  size_t state_bytes() const;

  void Save(ByteWriter& out) const;
  // DataLoss for bytes that Save cannot have written; then the forest is empty. What it took is safe to ask.
  absl::Status Load(ByteReader& in);

 private:
  // Ascending, each once.
  std::vector<uint32_t> SimilarRows(const FleetFeatures& features) const;

  struct Node {
    // Inner: rows with bin <= threshold go to `child`, others to child + 1. Leaf (feature < 0): `child` is
    // its first member and `count` the number of them.
    int8_t feature = -1;
    uint8_t threshold = 0;
    uint16_t unused = 0;
    uint32_t child = 0;
    uint32_t count = 0;
  };
  struct Tree {
    std::vector<Node> nodes;
    std::vector<uint32_t> members;  // row numbers, leaf by leaf
    std::vector<uint8_t> bins;      // the members' outcome bins
  };
  class Builder;

  using Binned = std::array<uint8_t, kFleetFeatures>;
  Binned BinsOf(const FleetFeatures& features) const;
  const Node& Leaf(const Tree& tree, const Binned& bins) const;
  static bool LoadTree(ByteReader& in, size_t rows, Tree& tree);

  std::array<std::vector<float>, kFleetFeatures> edges_;  // ascending; a value's bin is 1 + edges below it
  std::vector<Tree> trees_;
  std::vector<float> outcomes_;
};

}  // namespace taut::brain
