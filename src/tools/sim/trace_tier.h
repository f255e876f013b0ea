// Tiers of jobs in Google's traces, which follow from the priority.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace taut::tools {

enum class TraceTier : uint8_t { kUnknown, kFree, kBatch, kMid, kProduction, kMonitoring };
inline constexpr size_t kNumTraceTiers = 6;
std::string_view Name(TraceTier tier);  // name such as "unknown", "free" or "batch"

// Ranges of priorities. 2019: free <= 99, best-effort batch <= 115, mid <= 119, production <= 359, monitoring
// above (Tirmazi et al., EuroSys 2020). 2011: free <= 1, batch <= 8, production <= 10, monitoring 11.
enum class PriorityBands : uint8_t { k2019, k2011 };
// Returns k2011 if every known priority is in [0, 11].
PriorityBands BandsOf(std::span<const std::optional<int>> priorities);
// Returns the tier of a priority; kUnknown if the priority is absent.
TraceTier TierOf(std::optional<int> priority, PriorityBands bands);

}  // namespace taut::tools
