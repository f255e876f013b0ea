// A histogram of forecast errors (use less forecast), whose samples lose weight with age (forward decay: Cormode
// et al. 2009). Add is O(1), Quantile is O(sqrt(bins)).
#pragma once

#include <cstddef>
#include <vector>

namespace taut::brain {

// Not thread-safe. Does not allocate after construction.
class ErrorHistogram {
 public:
  static constexpr double kBin = 0.0005;  // width of a bin as a share of the scale
  // `scale` > 0: errors are clamped to [-scale, scale]. `half_life` > 0: age at which a sample has half of its
  // weight, in the unit of Age.
  ErrorHistogram(double scale, double half_life);

  void Add(double error);  // Adds an error. REQUIRES: `error` is finite.
  // Increases the age of all samples so far by `samples`.
  void Age(double samples);
  // Returns the lowest edge of a bin above which at most the share `over`, in [0, 1], of the weight lies.
  // REQUIRES: weight() > 0.
  double Quantile(double over) const;
  // Returns the number of samples, each weighted by age.
  double weight() const { return total_ / unit_; }

 private:
  double scale_, half_life_;
  static constexpr size_t kGroup = 64;
  std::vector<float> counts_;
  std::vector<double> groups_;  // sums over groups of kGroup bins
  double total_ = 0;
  double unit_ = 1;  // weight of a new sample
};

}  // namespace taut::brain
