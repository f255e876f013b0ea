// Quantiles of values that are stored one by one.
#pragma once

#include <span>

namespace taut {

// Returns the q-quantile, interpolated linearly between the two nearest ranks, as quantile_over_time of
// Prometheus and the default of numpy do. Reorders `values`. O(n). REQUIRES: values are not empty, 0 <= q <=
// 1.
double InterpolatedQuantile(std::span<float> values, double q);

}  // namespace taut
