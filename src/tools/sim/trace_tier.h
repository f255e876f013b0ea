// Tiers of the jobs of Google's traces, by priority.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace taut::tools {

enum class TraceTier : uint8_t { kUnknown, kFree, kBatch, kMid, kProduction, kMonitoring };
inline constexpr size_t kNumTraceTiers = 6;
std::string_view Name(TraceTier tier);  // "unknown", "free", "batch", ...

// Bands of priorities. Trace of 2019: free <= 99, best-effort batch <= 115, mid <= 119, production <= 359,
// monitoring above (Tirmazi et al., EuroSys 2020). Trace of 2011: free <= 1, batch <= 8, production <= 10,
// monitoring 11.
enum class PriorityBands : uint8_t { k2019, k2011 };
// Returns k2011 if every known priority is within 0 to 11.
PriorityBands BandsOf(std::span<const std::optional<int>> priorities);
// Returns the tier of the priority; kUnknown if it is absent.
TraceTier TierOf(std::optional<int> priority, PriorityBands bands);

}  // namespace taut::tools
