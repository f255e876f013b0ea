// The straight line through a stream of points by least squares, older points weighing less: what a task needs
// whatever it does, and what it needs more for each unit of load.
#pragma once

#include "absl/status/status.h"
#include "common/base/bytes.h"

namespace taut {

// 48 bytes; O(1) a point.
class DecayedLine {
 public:
  // `half_life`: the number of points after which a point counts half. > 0.
  explicit DecayedLine(double half_life);

  // REQUIRES: both finite and not negative.
  void Add(double x, double y);

  // The points tell x's part of y from the rest: there are half a half-life of them at least, x varies by a
  // twentieth of its mean, and the line explains a third of the variance of y.
  bool is_known() const;
  // y at x = 0, >= 0, and its rise for each unit of x, >= 0. Until is_known the mean of y and 0.
  double fixed() const;
  double slope() const;
  double At(double x) const { return fixed() + slope() * x; }
  double mean_x() const { return mean_x_; }
  // Decayed number of points.
  double weight() const { return weight_; }

  void Save(ByteWriter& out) const;
  // DataLoss, and no change, for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);

 private:
  double keep_, enough_;
  double weight_ = 0, mean_x_ = 0, mean_y_ = 0;
  double xx_ = 0, xy_ = 0, yy_ = 0;  // decayed sums of products of distances from the means
};

}  // namespace taut
