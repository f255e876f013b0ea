// cgroup v1's cpu.shares and cgroup v2's cpu.weight: two scales of one thing.
#pragma once

#include <cstdint>

namespace taut::node {

inline constexpr int kMinCpuWeight = 1, kMaxCpuWeight = 10'000;

// Shares (2 .. 262,144) as a weight (1 .. 10,000) and back, as runc converts; what is outside counts as the
// nearest. v1's default of 1,024 shares is 39.98. Shares come back as they were; a whole weight that became
// shares is that weight or up to 0.04 more.
double WeightOfShares(uint64_t shares);
uint64_t SharesOfWeight(double weight);
// Shares of a tier's weight: 1,024 for 100, the defaults of both versions. So shares have the ratios of the
// weights, and a group without one of its own stands where it stands on v2.
uint64_t SharesOfTierWeight(int weight);

}  // namespace taut::node
