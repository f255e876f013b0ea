#include "brain/recommend/settings.h"

#include <algorithm>
#include <cmath>

namespace taut::brain {

double MarginSchedule::At(double limit) const {
  if (limit <= small_limit) return small;
  if (limit >= large_limit) return large;
  const double share = std::log(limit / small_limit) / std::log(large_limit / small_limit);
  return small + (large - small) * share;
}

MarginSchedule MarginSchedule::For(Resource r) {
  MarginSchedule m;
  if (InCores(r)) {
    m.small_limit = 1;
    m.large_limit = 16;
  } else {
    m.small_limit = 1024 * kMiB;
    m.large_limit = 64 * 1024 * kMiB;
  }
  return m;
}

BoundSettings BoundSettings::Within(const AllowedRange& allowed) const {
  BoundSettings b = *this;
  if (allowed.lower.has_value() && *allowed.lower > b.lower.value_or(0)) {
    b.lower = allowed.lower;
    b.lower_by = allowed.lower_by;
  }
  if (allowed.upper.has_value() && (!b.upper.has_value() || *allowed.upper < *b.upper)) {
    b.upper = allowed.upper;
    b.upper_by = allowed.upper_by;
  }
  if (b.lower.has_value() && b.upper.has_value() && *b.lower > *b.upper) {
    if (b.lower == allowed.lower) {
      b.upper = b.lower;
      b.upper_by = b.lower_by;
    } else {
      b.lower = b.upper;
    }
  }
  // Rounding up to the granularity would exceed the allowed upper bound: use the multiple below this bound.
  if (b.granularity > 0 && b.upper.has_value() && b.upper == allowed.upper)
    b.upper = std::max(b.granularity, std::floor(*b.upper / b.granularity + 1e-9) * b.granularity);
  return b;
}

BoundSettings BoundSettings::For(Resource r) {
  BoundSettings b;
  b.granularity = UnitOf(r).granularity;
  b.lower = UnitOf(r).least_limit;
  return b;
}

PerResource<BoundSettings> BoundSettings::ForEach() {
  PerResource<BoundSettings> all;
  for (const Resource r : kResources) all[IndexOf(r)] = For(r);
  return all;
}

double AnalogSettings::MostChance(Resource r) const {
  if (max_overrun_chance > 0) return max_overrun_chance;
  const bool priced = price(r) > 0;
  return priced ? 0.5 : std::clamp(kChanceOfOrder * order(r), kLeastMostChance, 0.5);
}

}  // namespace taut::brain
