#include "tools/sim/trace_tier.h"

#include <algorithm>

namespace taut::tools {

std::string_view Name(TraceTier tier) {
  constexpr std::string_view kNames[] = {"unknown", "free", "batch", "mid", "production", "monitoring"};
  return kNames[static_cast<size_t>(tier)];
}

PriorityBands BandsOf(std::span<const std::optional<int>> priorities) {
  const bool small = std::ranges::all_of(
      priorities, [](const std::optional<int>& p) { return !p.has_value() || (*p >= 0 && *p <= 11); });
  return small ? PriorityBands::k2011 : PriorityBands::k2019;
}

TraceTier TierOf(std::optional<int> priority, PriorityBands bands) {
  if (!priority.has_value()) return TraceTier::kUnknown;
  if (bands == PriorityBands::k2011) {
    if (*priority <= 1) return TraceTier::kFree;
    if (*priority <= 8) return TraceTier::kBatch;
    return *priority <= 10 ? TraceTier::kProduction : TraceTier::kMonitoring;
  }
  if (*priority <= 99) return TraceTier::kFree;
  if (*priority <= 115) return TraceTier::kBatch;
  if (*priority <= 119) return TraceTier::kMid;
  return *priority <= 359 ? TraceTier::kProduction : TraceTier::kMonitoring;
}

}  // namespace taut::tools
