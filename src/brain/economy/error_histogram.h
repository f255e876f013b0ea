// Histogram of forecast errors (use above forecasts) whose samples lose weight with age (forward decay:
// Cormode et al. 2009). Add is O(1), Quantile O(sqrt(bins)).
#pragma once

#include <cstddef>
#include <vector>

namespace taut::brain {

// Not thread-safe. No allocation after construction.
class ErrorHistogram {
 public:
  static constexpr double kBin = 0.0005;  // width of a bin as a share of the scale
  // `scale` > 0: errors are clamped to [-scale, scale]. `half_life` > 0: age, in units of Age, at which a sample
  // has half its weight.
  ErrorHistogram(double scale, double half_life);

  void Add(double error);  // REQUIRES: finite
  // Ages all samples that were added so far by `samples`.
  void Age(double samples);
  // Returns the lowest bin edge above which at most a share `over`, [0, 1], of the weight lies. REQUIRES:
  // weight() > 0.
  double Quantile(double over) const;
  // Returns the number of samples, each weighted by age.
  double weight() const { return total_ / unit_; }

 private:
  double scale_, half_life_;
  static constexpr size_t kGroup = 64;
  std::vector<float> counts_;
  std::vector<double> groups_;  // sums of kGroup counts
  double total_ = 0;
  double unit_ = 1;  // weight of a new sample
};

}  // namespace taut::brain
