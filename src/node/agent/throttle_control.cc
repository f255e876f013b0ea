#include "node/agent/throttle_control.h"

#include <algorithm>
#include <cmath>

namespace taut::node {
namespace {

// Smaller changes are not worth a write, and limits that differ less are equal (the kernel rounds a quota).
constexpr double kSameShare = 0.01;
constexpr double kSameCores = 0.011;
constexpr double kSmallestStepCores = 0.02;

bool IsSameLimit(double a, double b) { return std::abs(a - b) <= std::max(kSameCores, kSameShare * b); }

}  // namespace

void ThrottleControl::Begin(double limit, int64_t now_us) {
  limit_ = limit;
  changed_us_ = read_us_ = now_us;
  periods_ = throttled_ = peak_ = 0;
}

std::optional<double> ThrottleControl::Changed(double limit, int64_t now_us) {
  Begin(limit, now_us);
  return limit;
}

std::optional<double> ThrottleControl::Step(const ThrottleReading& reading, double limit,
                                            const ThrottleBounds& bounds, int64_t now_us) {
  if (!limit_.has_value() || !IsSameLimit(limit, *limit_)) {
    before_cut_.reset();
    Begin(limit, now_us);
  }
  // Bounds may have moved: the limit follows at once.
  const double within = std::clamp(limit, bounds.low, bounds.high);
  if (!IsSameLimit(within, limit)) {
    before_cut_.reset();
    return Changed(within, now_us);
  }
  const double decay = std::exp2(-static_cast<double>(std::max<int64_t>(0, now_us - read_us_)) /
                                 static_cast<double>(options_.window_us));
  read_us_ = now_us;
  periods_ = periods_ * decay + static_cast<double>(reading.periods);
  throttled_ = throttled_ * decay + static_cast<double>(std::min(reading.throttled, reading.periods));
  if (reading.cores.has_value()) peak_ = std::max(peak_, *reading.cores);

  const bool may_roll_back = before_cut_.has_value() && now_us - changed_us_ <= options_.roll_back_us;
  const bool is_evidence = periods_ >= static_cast<double>(options_.least_periods);
  const double share = periods_ > 0 ? throttled_ / periods_ : 0;
  if (is_evidence && share > bounds.target && reading.throttled > 0) {
    const double step =
        std::clamp(options_.raise_gain * (share - bounds.target), options_.least_raise, options_.most_raise);
    double raised = limit + std::max(limit * step, kSmallestStepCores);
    if (may_roll_back) {
      raised = *before_cut_;
      quiet_us_ = std::min(quiet_us_ * 2, options_.most_quiet_us);
    }
    before_cut_.reset();
    raised = std::clamp(raised, bounds.low, bounds.high);
    if (raised > limit && !IsSameLimit(raised, limit)) return Changed(raised, now_us);
    return std::nullopt;
  }
  if (before_cut_.has_value() && !may_roll_back) {
    before_cut_.reset();
    quiet_us_ = std::max(quiet_us_ / 2, options_.quiet_us);  // the cut lasts
  }
  if (!is_evidence || share > bounds.target * options_.cut_below || !reading.cores.has_value())
    return std::nullopt;
  return Cut(limit, bounds, now_us);
}

std::optional<double> ThrottleControl::Cut(double limit, const ThrottleBounds& bounds, int64_t now_us) {
  if (now_us - changed_us_ < quiet_us_) return std::nullopt;
  const double least = std::max(bounds.low, peak_ * (1 + options_.usage_margin));
  const double cut = std::max(limit - std::max(limit * options_.cut, kSmallestStepCores), least);
  if (cut >= limit || IsSameLimit(cut, limit)) return std::nullopt;
  before_cut_ = limit;
  return Changed(cut, now_us);
}

}  // namespace taut::node
