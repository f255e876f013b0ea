// Conversion between cgroup v1's cpu.shares and cgroup v2's cpu.weight.
#pragma once

#include <cstdint>

namespace taut::node {

inline constexpr int kMinCpuWeight = 1, kMaxCpuWeight = 10'000;

// Converts shares (2 .. 262,144) to a weight (1 .. 10,000) and back, as runc does; values outside are clamped.
// v1's default of 1,024 shares is a weight of 39.98. Shares are unchanged after both conversions; a whole weight
// grows by at most 0.04.
double WeightOfShares(uint64_t shares);
uint64_t SharesOfWeight(double weight);
// Returns the shares for a tier's weight: 1,024 for the weight 100, the defaults of v1 and v2. Shares
// therefore have the ratios of the weights, and a group without a weight has the same rank as on v2.
uint64_t SharesOfTierWeight(int weight);

}  // namespace taut::node
