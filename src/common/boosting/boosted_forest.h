// A boosted forest of decision trees as plain data. It forecasts a whole distribution: for a case with some
// features it returns P(outcome > x) at all points x of a grid in one pass.
//
// The point x is itself a feature of the trees ("the threshold"), in which the forecast falls. A tree therefore
// assigns a step function of x to each case (conditional transformation by a binary learner, Hothorn and others,
// "Conditional transformation models", 2014, with boosted trees instead of their base learners).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/bytes.h"

namespace taut {

// Read-only after construction; threads may share one forest.
class BoostedForest {
 public:
  // A node of a tree. The children of an inner node are at `left` and left + 1 of the same tree.
  struct Node {
    float value = 0;      // inner node: cases below this value go left; leaf: the summand of the score
    uint16_t left = 0;    // 0: leaf
    uint8_t feature = 0;  // the number of features of a case: the threshold
    bool missing_left = false;
  };
  using Tree = std::vector<Node>;

  BoostedForest() = default;
  // Returns InvalidArgument if a node refers to a feature or a node that does not exist, or a value is not
  // finite. `grid` ascends, and `features` is below 256.
  static absl::StatusOr<BoostedForest> Make(size_t features, std::vector<float> grid,
                                            std::span<const Tree> trees);

  bool empty() const { return roots_.empty(); }
  size_t features() const { return features_; }
  std::span<const float> grid() const { return grid_; }
  size_t trees() const { return roots_.size(); }
  // Writes P(outcome > grid[k]) to chances[k]; the chances never rise with k. A missing feature is NaN. Takes
  // about 10 us for 250 trees of 31 leaves. REQUIRES: !empty(), as many features as features(), as many chances as
  // points of the grid.
  void Evaluate(std::span<const float> features, std::span<float> chances) const;

  void Save(ByteWriter& out) const;
  // Returns DataLoss, and changes nothing, for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);

 private:
  static constexpr size_t kMaxGrid = 256;

  // The value of a node of the threshold is the number of points of the grid that go left.
  std::vector<Node> nodes_;
  std::vector<uint32_t> roots_;  // first node of each tree
  std::vector<float> grid_;
  size_t features_ = 0;
};

}  // namespace taut
