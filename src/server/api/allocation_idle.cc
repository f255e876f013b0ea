#include "server/api/allocation_idle.h"

#include <algorithm>
#include <cmath>

#include "server/pool/capacity_lines.h"

namespace taut::server {
namespace {

constexpr int64_t kHourSeconds = 3600;

}  // namespace

std::optional<double> IdleCapacity::CapacityHours(Resource r, int64_t start_s, int64_t end_s) const {
  const auto& lines = history_.lines[IndexOf(r)];
  const auto& capacity = lines[static_cast<size_t>(CapacityLine::kCapacity)];
  const auto& usage = lines[static_cast<size_t>(CapacityLine::kUsage)];
  double sum = 0;
  int known = 0;
  std::optional<double> before;  // capacity in the last hour before the span
  int64_t measured_s = 0, closed_s = start_s;
  for (size_t i = 0; i < history_.time_s.size(); ++i) {
    const int64_t hour_s = history_.time_s[i];
    if (hour_s >= end_s) break;
    if (hour_s + kHourSeconds <= start_s) {
      if (capacity[i].has_value()) before = capacity[i];
      continue;
    }
    if (usage[i].has_value())
      measured_s += std::min(hour_s + kHourSeconds, end_s) - std::max(hour_s, start_s);
    closed_s = std::min(hour_s + kHourSeconds, end_s);
    if (!capacity[i].has_value()) continue;
    sum += *capacity[i];
    ++known;
  }
  if (known == 0 && !before.has_value()) return std::nullopt;
  // Count the open hour as measured.
  if (end_s - closed_s < kBeforeSeconds) measured_s += end_s - closed_s;
  const double mean = known > 0 ? sum / known : *before;
  return mean * static_cast<double>(measured_s) / kHourSeconds;
}

std::optional<AccountEntry> IdleCapacity::Of(int64_t start_s, int64_t end_s,
                                             const AccountEntry& allocated) const {
  std::optional<AccountEntry> out;
  for (const Resource r : kResources) {
    const std::optional<double> hours = CapacityHours(r, start_s, end_s);
    if (!hours.has_value()) continue;
    if (!out.has_value()) out.emplace();
    const double units = *hours * kHourSeconds * UnitOf(r).accounted;
    const auto billed = static_cast<double>(allocated.amounts(r).billed);
    out->of[IndexOf(r)].billed = static_cast<uint64_t>(std::llround(std::max(units - billed, 0.0)));
  }
  return out;
}

}  // namespace taut::server
