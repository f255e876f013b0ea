#include "common/boosting/boosted_forest.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/status/statusor.h"

namespace taut {
namespace {

constexpr size_t kMaxNodes = UINT16_MAX;  // of a tree

bool IsSound(const BoostedForest::Tree& tree, size_t features) {
  if (tree.empty() || tree.size() > kMaxNodes) return false;
  for (size_t i = 0; i < tree.size(); ++i) {
    const BoostedForest::Node& node = tree[i];
    if (!std::isfinite(node.value)) return false;
    // A child follows its parent, so that every path ends.
    if (node.left != 0 && (node.left <= i || node.left + size_t{1} >= tree.size() || node.feature > features))
      return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<BoostedForest> BoostedForest::Make(size_t features, std::vector<float> grid,
                                                  std::span<const Tree> trees) {
  if (grid.empty() || grid.size() > kMaxGrid || !std::ranges::is_sorted(grid) || features > UINT8_MAX - 1)
    return absl::InvalidArgumentError("a forest with an impossible grid or number of features");
  BoostedForest forest;
  forest.features_ = features;
  forest.grid_ = std::move(grid);
  for (const Tree& tree : trees) {
    if (!IsSound(tree, features)) return absl::InvalidArgumentError("a tree with an impossible node");
    forest.roots_.push_back(static_cast<uint32_t>(forest.nodes_.size()));
    for (Node node : tree) {
      if (node.left != 0 && node.feature == features) {
        const auto below = std::ranges::lower_bound(forest.grid_, node.value) - forest.grid_.begin();
        node.value = static_cast<float>(below);
      }
      forest.nodes_.push_back(node);
    }
  }
  return forest;
}

void BoostedForest::Evaluate(std::span<const float> features, std::span<float> chances) const {
  const size_t points = grid_.size();
  // steps[k] is the difference of the score at point k from the score at point k - 1.
  std::array<float, kMaxGrid + 1> steps{};
  struct Range {
    uint16_t node, low, high;  // the points [low, high) that reach the node
  };
  // Open ranges are disjoint and not empty.
  std::array<Range, kMaxGrid> open;  // NOLINT(*-member-init)
  for (const uint32_t root : roots_) {
    const Node* tree = &nodes_[root];
    size_t size = 0;
    Range at{0, 0, static_cast<uint16_t>(points)};
    for (;;) {
      const Node& node = tree[at.node];
      if (node.left == 0) {
        steps[at.low] += node.value;
        steps[at.high] -= node.value;
        if (size == 0) break;
        at = open[--size];
      } else if (node.feature < features_) {
        const float v = features[node.feature];
        const bool left = std::isnan(v) ? node.missing_left : v < node.value;
        at.node = static_cast<uint16_t>(node.left + (left ? 0 : 1));
      } else {
        const auto split = static_cast<uint16_t>(node.value);
        if (split <= at.low) {
          at.node = static_cast<uint16_t>(node.left + 1);
        } else if (split >= at.high) {
          at.node = node.left;
        } else {
          open[size++] = {static_cast<uint16_t>(node.left + 1), split, at.high};
          at = {node.left, at.low, split};
        }
      }
    }
  }
  float score = 0, least = 1;
  for (size_t k = 0; k < points; ++k) {
    score += steps[k];
    least = std::min(least, 1 / (1 + std::exp(-score)));
    chances[k] = least;
  }
}

void BoostedForest::Save(ByteWriter& out) const {
  out.PutVarint(features_);
  out.PutVarint(grid_.size());
  for (const float g : grid_) out.Put(g);
  out.PutVarint(roots_.size());
  for (size_t t = 0; t < roots_.size(); ++t) {
    const size_t end = t + 1 < roots_.size() ? roots_[t + 1] : nodes_.size();
    out.PutVarint(end - roots_[t]);
    for (size_t i = roots_[t]; i < end; ++i) {
      const Node& node = nodes_[i];
      out.Put(node.value);
      out.Put(node.left);
      out.Put(node.feature);
      out.Put<uint8_t>(node.missing_left ? 1 : 0);
    }
  }
}

absl::Status BoostedForest::Load(ByteReader& in) {
  constexpr size_t kNodeBytes = 8;
  const absl::Status damaged = absl::DataLossError("a damaged boosted forest");
  BoostedForest read;
  read.features_ = in.GetVarint();
  const uint64_t points = in.GetVarint();
  if (in.failed() || points > kMaxGrid || read.features_ > UINT8_MAX - 1) return damaged;
  for (uint64_t k = 0; k < points; ++k) read.grid_.push_back(in.Get<float>());
  const uint64_t trees = in.GetVarint();
  if (in.failed() || trees > in.remaining() / kNodeBytes || (trees > 0 && points == 0)) return damaged;
  for (const float g : read.grid_) {
    if (!std::isfinite(g)) return damaged;
  }
  if (!std::ranges::is_sorted(read.grid_)) return damaged;
  for (uint64_t t = 0; t < trees; ++t) {
    const uint64_t size = in.GetVarint();
    if (in.failed() || size > in.remaining() / kNodeBytes) return damaged;
    Tree tree(size);
    for (Node& node : tree) {
      node.value = in.Get<float>();
      node.left = in.Get<uint16_t>();
      node.feature = in.Get<uint8_t>();
      node.missing_left = in.Get<uint8_t>() != 0;
      const bool at_threshold = node.left != 0 && node.feature == read.features_;
      if (at_threshold && !(node.value >= 0 && node.value <= static_cast<float>(points))) return damaged;
    }
    if (!IsSound(tree, read.features_)) return damaged;
    read.roots_.push_back(static_cast<uint32_t>(read.nodes_.size()));
    read.nodes_.insert(read.nodes_.end(), tree.begin(), tree.end());
  }
  if (in.failed()) return damaged;
  *this = std::move(read);
  return absl::OkStatus();
}

}  // namespace taut
