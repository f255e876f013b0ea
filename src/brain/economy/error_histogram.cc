#include "brain/economy/error_histogram.h"

#include <algorithm>
#include <cmath>

namespace taut::brain {
namespace {

// Highest weight of a new sample, far below the weight at which a float sum would lose a sample of weight 1.
constexpr double kLargestUnit = 1e6;

}  // namespace

ErrorHistogram::ErrorHistogram(double scale, double half_life)
    : scale_(scale),
      half_life_(half_life),
      counts_(static_cast<size_t>(std::lround(2 / kBin)) + 1),
      groups_(counts_.size() / kGroup + 1) {}

void ErrorHistogram::Add(double error) {
  // The subtraction before rounding up keeps an error on a bin edge from moving to the next bin.
  const double at = std::ceil((std::clamp(error / scale_, -1.0, 1.0) + 1) / kBin - 1e-6);
  const auto bin = static_cast<size_t>(std::max(0.0, at));
  counts_[bin] += static_cast<float>(unit_);
  groups_[bin / kGroup] += unit_;
  total_ += unit_;
}

void ErrorHistogram::Age(double samples) {
  // Forward decay: raise the weight of new samples instead of lowering all counts, so that rescaling is rare.
  unit_ *= std::exp2(samples / half_life_);
  if (unit_ < kLargestUnit) return;
  for (float& c : counts_) c = static_cast<float>(c / unit_);
  for (double& g : groups_) g /= unit_;
  total_ /= unit_;
  unit_ = 1;
}

double ErrorHistogram::Quantile(double over) const {
  const double may_be_above = over * total_;
  double above = 0;
  for (size_t g = groups_.size(); g-- > 0;) {
    if (above + groups_[g] <= may_be_above) {
      above += groups_[g];
      continue;
    }
    for (size_t i = std::min(counts_.size(), (g + 1) * kGroup); i-- > g * kGroup;) {
      above += counts_[i];
      if (above > may_be_above) return (static_cast<double>(i) * kBin - 1) * scale_;
    }
  }
  return -scale_;
}

}  // namespace taut::brain
