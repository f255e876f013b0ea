// cgroup v1's cpu.shares and cgroup v2's cpu.weight: two scales of one thing.
#pragma once

#include <cstdint>

namespace taut {

inline constexpr int kMinCpuWeight = 1, kMaxCpuWeight = 10'000;

// Shares (2 .. 262,144) as a weight (1 .. 10,000) and back, as container runtimes convert; what is outside
// counts as the nearest. Any weight comes back as it was; v1's default of 1024 shares is 39.
int CpuWeightOfShares(uint64_t shares);
uint64_t CpuSharesOfWeight(int weight);

}  // namespace taut
