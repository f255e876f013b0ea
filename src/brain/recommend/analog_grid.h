// The grid of analog forecasts: ln(next day's peak / highest peak of the last 7 days), in steps of 0.005 near
// 0 and of 5 % of the distance further away.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace taut::brain {

class AnalogGrid {
 public:
  static constexpr int kEdges = 191;
  static constexpr int kBins = kEdges + 1;  // bin k is (Edge(k-1), Edge(k)]; the last bin has no upper bound

  static const AnalogGrid& Get();
  double Edge(int k) const { return edges_[static_cast<size_t>(k)]; }
  // Returns exp(Edge(k)).
  double Factor(int k) const { return factors_[static_cast<size_t>(k)]; }
  // Returns the bin of a ratio; a ratio within 1e-9 above an edge counts as equal to the edge. O(log edges).
  int BinOf(double log_ratio) const;

 private:
  AnalogGrid();
  std::array<double, kEdges> edges_;
  std::array<double, kEdges> factors_;
};

// A distribution over the grid as cumulative shares: at[k] = P(log ratio <= Edge(k)).
struct AnalogCdf {
  std::array<float, AnalogGrid::kEdges> at;

  // Returns P(log ratio > x), interpolated linearly between edges; 1 below the grid, 1 - at.back() above the
  // grid.
  double Exceedance(double log_ratio) const;
};

}  // namespace taut::brain
