#include "brain/recommend/analog_grid.h"

#include <algorithm>
#include <cmath>

namespace taut::brain {

AnalogGrid::AnalogGrid() {
  constexpr int kZero = kEdges / 2;
  double edge = 0;
  for (int i = 0; i <= kZero; ++i) {
    edges_[static_cast<size_t>(kZero + i)] = edge;
    edges_[static_cast<size_t>(kZero - i)] = -edge;
    edge += std::max(0.005, 0.05 * edge);
  }
  for (size_t k = 0; k < edges_.size(); ++k) factors_[k] = std::exp(edges_[k]);
}

const AnalogGrid& AnalogGrid::Get() {
  static const AnalogGrid grid;
  return grid;
}

int AnalogGrid::BinOf(double log_ratio) const {
  // The tolerance keeps an exactly repeated peak at or below the edge 0 despite the rounding of the logarithms.
  return static_cast<int>(std::lower_bound(edges_.begin(), edges_.end(), log_ratio - 1e-9) - edges_.begin());
}

double AnalogCdf::Exceedance(double log_ratio) const {
  const AnalogGrid& grid = AnalogGrid::Get();
  const int k = grid.BinOf(log_ratio + 2e-9) - 1;  // index of the last edge at or below the ratio
  if (k < 0) return 1;
  if (k >= AnalogGrid::kEdges - 1) return std::max(0.0, 1 - double{at.back()});
  const double share = std::clamp((log_ratio - grid.Edge(k)) / (grid.Edge(k + 1) - grid.Edge(k)), 0.0, 1.0);
  const auto i = static_cast<size_t>(k);
  return std::max(0.0, 1 - (at[i] + share * (at[i + 1] - at[i])));
}

}  // namespace taut::brain
