// The grid on which analogs forecast: the logarithm of (next day's peak / highest peak of the last 7 days),
// in steps of 0.5 % near no change and of 5 % of the distance beyond.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace taut::brain {

class AnalogGrid {
 public:
  static constexpr int kEdges = 191;
  static constexpr int kBins = kEdges + 1;  // bin k = (Edge(k-1), Edge(k)]; the last is open above

  static const AnalogGrid& Get();
  double Edge(int k) const { return edges_[static_cast<size_t>(k)]; }
  // exp(Edge(k)).
  double Factor(int k) const { return factors_[static_cast<size_t>(k)]; }
  int BinOf(double log_ratio) const;

 private:
  AnalogGrid();
  std::array<double, kEdges> edges_;
  std::array<double, kEdges> factors_;
};

// A distribution over the grid as cumulative shares: at[k] = P(log ratio <= Edge(k)).
struct AnalogCdf {
  std::array<float, AnalogGrid::kEdges> at;

  // P(log ratio > x): linear between edges, 1 below the grid, what is left above it.
  double Exceedance(double log_ratio) const;
};

}  // namespace taut::brain
