// Quantiles of values that are kept one by one.
#pragma once

#include <span>

namespace taut {

// Linear between the two nearest ranks, as quantile_over_time of Prometheus and the default of numpy. `q` is
// from 0 to 1. Reorders `values`, which are not empty.
double InterpolatedQuantile(std::span<float> values, double q);

}  // namespace taut
