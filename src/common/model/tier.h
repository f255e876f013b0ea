// How important a task is to its cell: what may be preempted, throttled or killed for what.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace taut {

// Low to high. The upper two are production.
enum class Tier : uint8_t { kFree, kBatch, kMid, kProduction, kMonitoring };
inline constexpr size_t kTiers = 5;
constexpr bool IsProduction(Tier tier) { return tier >= Tier::kProduction; }
// "free", "batch", "mid", "production", "monitoring".
std::string_view Name(Tier tier);

}  // namespace taut
