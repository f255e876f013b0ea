#include "brain/recommend/distribution_forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/random.h"

namespace taut::brain {
namespace {

constexpr double kCuts[] = {.02, .05, .1, .2, .3, .4, .5, .6, .7, .8, .85, .9, .93, .96, .98};
constexpr int kClasses = static_cast<int>(std::size(kCuts)) + 1;
constexpr int kLanes = 16;  // number of classes, padded for the vector unit
static_assert(kClasses <= kLanes);
constexpr double kMinGain = 1e-9;

// Interpolates linearly between order statistics. REQUIRES: !sorted.empty().
double Quantile(const std::vector<float>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(position);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (position - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::vector<float> DistinctQuantiles(std::vector<float> values, std::span<const double> at) {
  std::vector<float> out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  for (double p : at) out.push_back(static_cast<float>(Quantile(values, p)));
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

// Grows trees one by one over the same binned rows.
class DistributionForest::Builder {
 public:
  Builder(std::span<const Row> rows, const DistributionForest& forest, const ForestSettings& settings)
      : settings_(settings) {
    const size_t n = rows.size();
    std::vector<float> outcomes(n);
    for (size_t i = 0; i < n; ++i) outcomes[i] = rows[i].outcome;
    const std::vector<float> cuts = DistinctQuantiles(outcomes, kCuts);
    features_.resize(kFleetFeatures * n);
    classes_.resize(n);
    outcome_bins_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const Binned bins = forest.BinsOf(rows[i].features);
      for (size_t f = 0; f < bins.size(); ++f) features_[f * n + i] = bins[f];
      classes_[i] =
          static_cast<uint8_t>(std::lower_bound(cuts.begin(), cuts.end(), outcomes[i]) - cuts.begin());
      outcome_bins_[i] = static_cast<uint8_t>(AnalogGrid::Get().BinOf(outcomes[i]));
    }
  }

  Tree Grow(Rng& rng) {
    rows_.clear();
    for (uint32_t i = 0; i < classes_.size(); ++i) {
      if (rng.Uniform() < settings_.bag) rows_.push_back(i);
    }
    if (rows_.empty()) rows_.push_back(static_cast<uint32_t>(rng.Below(classes_.size())));
    Tree tree;
    struct Pending {
      uint32_t node, first, last;
      int depth;
    };
    std::vector<Pending> pending = {{0, 0, static_cast<uint32_t>(rows_.size()), 0}};
    tree.nodes.emplace_back();
    for (size_t p = 0; p < pending.size(); ++p) {
      const Pending at = pending[p];
      const Split split = at.depth < settings_.max_depth ? BestSplit(at.first, at.last, rng) : Split{};
      if (split.feature < 0) {
        tree.nodes[at.node].child = at.first;
        tree.nodes[at.node].count = at.last - at.first;
        continue;
      }
      const auto child = static_cast<uint32_t>(tree.nodes.size());
      tree.nodes[at.node] = {static_cast<int8_t>(split.feature), split.threshold, 0, child, 0};
      tree.nodes.resize(tree.nodes.size() + 2);
      const uint32_t middle = Partition(at.first, at.last, split);
      pending.push_back({child, at.first, middle, at.depth + 1});
      pending.push_back({child + 1, middle, at.last, at.depth + 1});
    }
    tree.members = rows_;
    for (uint32_t row : rows_) tree.bins.push_back(outcome_bins_[row]);
    return tree;
  }

 private:
  struct Split {
    int feature = -1;
    uint8_t threshold = 0;
    double gain = kMinGain;
  };

  Split BestSplit(uint32_t first, uint32_t last, Rng& rng) {
    Split best;
    if (last - first < 2 * static_cast<uint32_t>(settings_.min_leaf)) return best;
    std::array<uint8_t, kFleetFeatures> order;
    std::iota(order.begin(), order.end(), uint8_t{0});
    const int tries = std::min(settings_.features_per_split, kFleetFeatures);
    for (int i = 0; i < tries; ++i) {
      const auto j = static_cast<size_t>(i) + rng.Below(static_cast<uint64_t>(kFleetFeatures - i));
      std::swap(order[static_cast<size_t>(i)], order[j]);
      TryFeature(order[static_cast<size_t>(i)], first, last, best);
    }
    return best;
  }

  // Computes the gain of each threshold of a feature from a histogram of class counts per bin.
  void TryFeature(int feature, uint32_t first, uint32_t last, Split& best) {
    const uint8_t* bins = features_.data() + static_cast<size_t>(feature) * classes_.size();
    std::fill(std::begin(counts_), std::end(counts_), 0.0F);
    for (uint32_t i = first; i < last; ++i) {
      const uint32_t row = rows_[i];
      counts_[bins[row] * kLanes + classes_[row]] += 1;
    }
    // Make the class counts cumulative: counts_[b][c] = rows of bin b with class <= c.
    alignas(32) float all[kLanes] = {};
    for (int b = 0; b < kFeatureBins; ++b) {
      float* row = counts_ + b * kLanes;
      for (int c = 1; c < kLanes; ++c) row[c] += row[c - 1];
      for (int c = 0; c < kLanes; ++c) all[c] += row[c];
    }
    const auto n = static_cast<float>(last - first);
    const double whole = Impurity(all, n);
    alignas(32) float left[kLanes] = {};
    alignas(32) float right[kLanes];
    const auto min_leaf = static_cast<float>(settings_.min_leaf);
    for (int b = 0; b + 1 < kFeatureBins; ++b) {
      const float* row = counts_ + b * kLanes;
      if (row[kLanes - 1] == 0) continue;
      for (int c = 0; c < kLanes; ++c) {
        left[c] += row[c];
        right[c] = all[c] - left[c];
      }
      const float in_left = left[kLanes - 1];
      if (in_left < min_leaf) continue;
      if (n - in_left < min_leaf) break;
      const double gain = whole - Impurity(left, in_left) - Impurity(right, n - in_left);
      if (gain > best.gain) best = {feature, static_cast<uint8_t>(b), gain};
    }
  }

  // Returns n times the CRPS over the cuts: the sum over all cuts of C (n - C) / n, where C is the cumulative
  // count.
  static double Impurity(const float* cumulative, float n) {
    float sum = 0;
    for (int c = 0; c < kLanes; ++c) sum += cumulative[c] * (n - cumulative[c]);
    return sum / n;
  }

  uint32_t Partition(uint32_t first, uint32_t last, const Split& split) {
    const uint8_t* bins = features_.data() + static_cast<size_t>(split.feature) * classes_.size();
    const auto middle = std::stable_partition(rows_.begin() + first, rows_.begin() + last,
                                              [&](uint32_t row) { return bins[row] <= split.threshold; });
    return static_cast<uint32_t>(middle - rows_.begin());
  }

  ForestSettings settings_;
  std::vector<uint8_t> features_;  // bin of each row, feature by feature
  std::vector<uint8_t> classes_, outcome_bins_;
  std::vector<uint32_t> rows_;  // rows of the current tree, leaf by leaf
  alignas(32) float counts_[kFeatureBins * kLanes];
};

void DistributionForest::Train(std::span<const Row> rows, const ForestSettings& settings, uint64_t seed) {
  trees_.clear();
  outcomes_.clear();
  if (rows.empty()) return;
  std::vector<double> at;
  for (int j = 1; j < kFeatureBins - 1; ++j) at.push_back(static_cast<double>(j) / (kFeatureBins - 1));
  for (size_t f = 0; f < edges_.size(); ++f) {
    std::vector<float> values;
    for (const Row& r : rows) {
      if (std::isfinite(r.features[f])) values.push_back(r.features[f]);
    }
    // This assignment must precede the construction of the Builder, which bins the rows by these edges.
    edges_[f] = DistinctQuantiles(std::move(values), at);
  }
  for (const Row& r : rows) outcomes_.push_back(r.outcome);
  Builder builder(rows, *this, settings);
  const Rng root(seed);
  for (int t = 0; t < settings.trees; ++t) {
    Rng rng = root.Fork(static_cast<uint64_t>(t));
    trees_.push_back(builder.Grow(rng));
  }
}

DistributionForest::Binned DistributionForest::BinsOf(const FleetFeatures& features) const {
  Binned bins{};
  for (size_t f = 0; f < bins.size(); ++f) {
    if (!std::isfinite(features[f])) continue;
    const std::vector<float>& edges = edges_[f];
    bins[f] =
        static_cast<uint8_t>(1 + (std::lower_bound(edges.begin(), edges.end(), features[f]) - edges.begin()));
  }
  return bins;
}

const DistributionForest::Node& DistributionForest::Leaf(const Tree& tree, const Binned& bins) const {
  const Node* node = tree.nodes.data();
  while (node->feature >= 0) {
    const bool right = bins[static_cast<size_t>(node->feature)] > node->threshold;
    node = tree.nodes.data() + node->child + (right ? 1 : 0);
  }
  return *node;
}

void DistributionForest::Predict(const FleetFeatures& features,
                                 std::span<float, AnalogGrid::kBins> shares) const {
  std::fill(shares.begin(), shares.end(), 0.0F);
  const Binned bins = BinsOf(features);
  const auto per_tree = 1.0F / static_cast<float>(trees_.size());
  for (const Tree& tree : trees_) {
    const Node& leaf = Leaf(tree, bins);
    const float share = per_tree / static_cast<float>(leaf.count);
    const uint8_t* member = tree.bins.data() + leaf.child;
    for (uint32_t i = 0; i < leaf.count; ++i) shares[member[i]] += share;
  }
}

std::vector<uint32_t> DistributionForest::SimilarRows(const FleetFeatures& features) const {
  const Binned bins = BinsOf(features);
  std::vector<uint32_t> rows;
  for (const Tree& tree : trees_) {
    const Node& leaf = Leaf(tree, bins);
    rows.insert(rows.end(), tree.members.begin() + leaf.child,
                tree.members.begin() + leaf.child + leaf.count);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<float> DistributionForest::SimilarOutcomes(const FleetFeatures& features) const {
  std::vector<float> outcomes;
  for (const uint32_t row : SimilarRows(features)) outcomes.push_back(outcomes_[row]);
  return outcomes;
}

size_t DistributionForest::state_bytes() const {
  size_t bytes = sizeof(*this) + outcomes_.capacity() * sizeof(float);
  for (const Tree& t : trees_) {
    bytes += t.nodes.capacity() * sizeof(Node) + t.members.capacity() * sizeof(uint32_t) + t.bins.capacity();
  }
  for (const std::vector<float>& e : edges_) bytes += e.capacity() * sizeof(float);
  return bytes;
}

}  // namespace taut::brain
