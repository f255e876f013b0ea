#include "cgroup/cpu_shares.h"

#include <algorithm>

namespace taut {
namespace {

constexpr uint64_t kMinShares = 2, kMaxShares = 262'144;
constexpr uint64_t kShares = kMaxShares - kMinShares, kWeights = kMaxCpuWeight - kMinCpuWeight;

}  // namespace

int CpuWeightOfShares(uint64_t shares) {
  const uint64_t above = std::clamp(shares, kMinShares, kMaxShares) - kMinShares;
  return kMinCpuWeight + static_cast<int>(above * kWeights / kShares);
}

uint64_t CpuSharesOfWeight(int weight) {
  const auto above = static_cast<uint64_t>(std::clamp(weight, kMinCpuWeight, kMaxCpuWeight) - kMinCpuWeight);
  return kMinShares + (above * kShares + kWeights - 1) / kWeights;  // up, since the way back goes down
}

}  // namespace taut
