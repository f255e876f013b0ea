#include "brain/recommend/hour_levels.h"

#include <algorithm>
#include <cstdlib>

#include "common/base/time.h"

namespace taut::brain {
namespace {

constexpr int32_t kHoursPerDay = 24;

size_t SlotOfHour(int32_t hour) {
  constexpr int kHours = HourLevels::kHours;
  return static_cast<size_t>(hour - FloorDiv(hour, kHours) * kHours);
}

}  // namespace

void HourLevels::Add(int32_t hour, int level) {
  if (last_ != INT32_MIN && hour <= last_ - kHours) return;
  const int32_t first = last_ == INT32_MIN ? hour - kHours + 1 : std::max(last_ + 1, hour - kHours + 1);
  for (int32_t h = first; h <= hour; ++h) levels_[SlotOfHour(h)] = 0;
  last_ = std::max(last_, hour);
  uint8_t& highest = levels_[SlotOfHour(hour)];
  highest = std::max(highest, static_cast<uint8_t>(level + 1));
}

int HourLevels::At(int32_t hour) const {
  if (last_ == INT32_MIN || hour > last_ || hour <= last_ - kHours) return -1;
  return levels_[SlotOfHour(hour)] - 1;
}

std::optional<HourLevels::Burst> HourLevels::Repeated(int32_t hour, int above, int count, int apart) const {
  Burst burst{.lowest = INT32_MAX, .highest = 0, .weekly = apart > kHoursPerDay};
  for (int i = 1; i <= count; ++i) {
    const int level = At(hour - i * apart);
    if (level <= above) return std::nullopt;
    burst.lowest = std::min(burst.lowest, level);
    burst.highest = std::max(burst.highest, level);
  }
  return burst;
}

std::optional<HourLevels::Burst> HourLevels::Foresee(int32_t hour, int above) const {
  const std::optional<Burst> daily = Repeated(hour, above, kDays, kHoursPerDay);
  const std::optional<Burst> weekly = Repeated(hour, above, kWeeks, 7 * kHoursPerDay);
  if (!daily.has_value() || !weekly.has_value()) return daily.has_value() ? daily : weekly;
  return weekly->highest > daily->highest ? weekly : daily;
}

void HourLevels::Save(ByteWriter& out) const {
  out.Put(last_);
  for (const uint8_t level : levels_) out.Put(level);
}

absl::Status HourLevels::Load(int levels, ByteReader& in) {
  last_ = in.Get<int32_t>();
  bool possible = last_ == INT32_MIN || std::abs(int64_t{last_}) <= INT32_MAX / 2;
  for (uint8_t& level : levels_) {
    level = in.Get<uint8_t>();
    possible = possible && level <= levels;
  }
  if (absl::Status s = in.status("hours of usage"); !s.ok()) return s;
  return possible ? absl::OkStatus() : absl::DataLossError("hours of usage: an impossible level or hour");
}

}  // namespace taut::brain
