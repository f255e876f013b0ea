#include "node/agent/cpu_weight.h"

#include <algorithm>
#include <cmath>

namespace taut::node {
namespace {

constexpr uint64_t kMinShares = 2, kMaxShares = 262'144;
constexpr double kSharesPerWeight = 262'142.0 / 9'999.0;

}  // namespace

double WeightOfShares(uint64_t shares) {
  return 1 + static_cast<double>(std::clamp(shares, kMinShares, kMaxShares) - kMinShares) / kSharesPerWeight;
}

uint64_t SharesOfTierWeight(int weight) {
  constexpr double kSharesAWeight = 1024.0 / 100;
  return std::max(kMinShares, static_cast<uint64_t>(std::llround(weight * kSharesAWeight)));
}

uint64_t SharesOfWeight(double weight) {
  const double in_range = std::clamp<double>(weight, kMinCpuWeight, kMaxCpuWeight);
  // Round up, because kernels and runc round down when they convert back; 1e-6 absorbs the rounding of
  // WeightOfShares.
  return kMinShares +
         static_cast<uint64_t>(std::llround(std::ceil((in_range - 1) * kSharesPerWeight - 1e-6)));
}

}  // namespace taut::node
