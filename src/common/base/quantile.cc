#include "common/base/quantile.h"

#include <algorithm>
#include <cstddef>

namespace taut {

double InterpolatedQuantile(std::span<float> values, double q) {
  const double rank = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(rank);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  const double low = *at;
  if (below + 1 >= values.size()) return low;
  const double high = *std::min_element(at + 1, values.end());
  return low + (high - low) * (rank - static_cast<double>(below));
}

}  // namespace taut
