// How far use was above forecasts: weighted counts of bins, old ones weighing less (forward decay: Cormode et
// al. 2009). Add is O(1), Quantile O(sqrt(bins)).
#pragma once

#include <cstddef>
#include <vector>

namespace taut::brain {

class ErrorHistogram {
 public:
  static constexpr double kBin = 0.0005;  // of the scale
  // `scale` > 0: errors outside [-scale, scale] count as the nearest of these. `half_life` in samples, > 0.
  ErrorHistogram(double scale, double half_life);

  void Add(double error);  // finite
  // After this, samples weigh more by `samples` of age.
  void Age(double samples);
  // The lowest bin edge that at most a share `over`, [0, 1], of the weight is above. REQUIRES: weight() > 0.
  double Quantile(double over) const;
  // Number of samples, each times what is left of it after aging.
  double weight() const { return total_ / unit_; }

 private:
  double scale_, half_life_;
  static constexpr size_t kGroup = 64;
  std::vector<float> counts_;
  std::vector<double> groups_;  // sums of kGroup counts
  double total_ = 0;
  double unit_ = 1;  // the weight of a sample of now
};

}  // namespace taut::brain
