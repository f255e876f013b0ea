#include "brain/replicas/start_price.h"

#include <algorithm>
#include <cmath>

#include "common/base/time.h"

namespace taut::brain {
namespace {

constexpr double kHpaTarget = 0.7, kHpaTolerance = 0.1, kHpaWindowSeconds = 300;  // of the HPA
// A day with twice the HPA's starts raises the logarithm of the price by this number.
constexpr double kRate = 0.5;
constexpr double kMemoryDays = 7;
const double kMostLogFactor = std::log(2.0);
constexpr double kMostCount = 1e9;

}  // namespace

double StartPrice::Factor() const { return std::exp(log_factor_); }

void StartPrice::Observe(double tasks, int started, double usual, double step_s) {
  const double wanted = std::min(std::ceil(tasks / kHpaTarget), kMostCount);
  const double ratio = tasks / kHpaTarget / std::max(count_, 1);
  const bool asks = count_ == 0 || std::fabs(ratio - 1) > kHpaTolerance;
  std::move(asked_.begin() + 1, asked_.end(), asked_.begin());
  asked_.back() = std::max(1, asks ? static_cast<int>(wanted) : count_);
  const auto window =
      static_cast<ptrdiff_t>(std::clamp(kHpaWindowSeconds / step_s, 1.0, double{kMostWindow}));
  const int next = *std::max_element(asked_.end() - window, asked_.end());
  const double starts = count_ == 0 ? 0 : std::max(0, next - count_);
  count_ = next;
  week_starts_ += starts - week_starts_ * std::min(1.0, step_s / (kMemoryDays * kDaySeconds));
  const double day_starts = std::max({week_starts_ / kMemoryDays, usual, 1.0});
  log_factor_ =
      std::clamp(log_factor_ + kRate * (started - starts) / day_starts, -kMostLogFactor, kMostLogFactor);
}

void StartPrice::Save(ByteWriter& out) const {
  for (const int asked : asked_) out.Put(asked);
  out.Put(count_);
  out.Put(week_starts_);
  out.Put(log_factor_);
}

void StartPrice::Load(StoredValues& in) {
  for (int& asked : asked_) asked = in.Count();
  count_ = in.Count();
  week_starts_ = in.Amount();
  log_factor_ = in.Within(-kMostLogFactor, kMostLogFactor);
}

}  // namespace taut::brain
