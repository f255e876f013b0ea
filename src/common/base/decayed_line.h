// Fits a straight line through a stream of points by least squares; older points weigh less. For a task's usage
// over its load, the line shows the fixed usage and the usage per unit of load.
#pragma once

#include "absl/status/status.h"
#include "common/base/bytes.h"

namespace taut {

// Decayed least-squares line. The object is 64 bytes long; Add is O(1). Not thread-safe.
class DecayedLine {
 public:
  // A point loses half of its weight after `half_life` further points. REQUIRES: half_life > 0.
  explicit DecayedLine(double half_life);

  // Adds a point. REQUIRES: x and y are finite and not negative.
  void Add(double x, double y);

  // Returns true if the points separate the fixed part of y from the part that grows with x. The points must weigh
  // at least as much as half_life / 2 points. The standard deviation of x must be at least 5 % of its mean. The
  // line must explain at least a third of the variance of y.
  bool is_known() const;
  // Return the value of y at x = 0, and the slope; both are >= 0. Until is_known(), fixed() is the mean of y,
  // and slope() is 0.
  double fixed() const;
  double slope() const;
  // Returns the line's value at x.
  double At(double x) const { return fixed() + slope() * x; }
  double mean_x() const { return mean_x_; }
  // Sum of the decayed weights of all points.
  double weight() const { return weight_; }

  void Save(ByteWriter& out) const;
  // Restores the sums that Save wrote; this object keeps its half-life. Returns DataLoss, and changes
  // nothing, for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);

 private:
  double keep_, enough_;
  double weight_ = 0, mean_x_ = 0, mean_y_ = 0;
  double xx_ = 0, xy_ = 0, yy_ = 0;  // decayed sums of products of distances from the means
};

}  // namespace taut
