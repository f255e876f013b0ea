// Importance of a task: a task of a lower tier is preempted, throttled or killed for a task of a higher tier.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace taut {

// Ascending; the two highest tiers are production.
enum class Tier : uint8_t { kFree, kBatch, kMid, kProduction, kMonitoring };
inline constexpr size_t kTiers = 5;
constexpr bool IsProduction(Tier tier) { return tier >= Tier::kProduction; }
// Returns "free", "batch", "mid", "production" or "monitoring".
std::string_view Name(Tier tier);

}  // namespace taut
