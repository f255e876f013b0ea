#include "brain/economy/tail_dependence.h"

#include <algorithm>

namespace taut::brain {
namespace {

constexpr double kPriorDays = 2, kPriorSamplesPerDay = 12, kPriorShare = 0.05;

}  // namespace

void TailDependence::Add(int64_t step, bool high) {
  if (step / day_steps_ != day_) {
    EndDay();
    day_ = step / day_steps_;
  }
  ++in_day_;
  if (!high) return;
  ++high_in_day_;
  ++high_steps_;
  if (last_high_ < 0 || static_cast<double>(step - last_high_) > hour_steps_) ++runs_;
  last_high_ = step;
}

void TailDependence::EndDay() {
  // A day is representative only if at least half of it was measured.
  if (2 * in_day_ >= day_steps_) {
    const double share = static_cast<double>(high_in_day_) / static_cast<double>(in_day_);
    ++days_;
    const double off = share - mean_;
    mean_ += off / days_;
    squares_ += off * (share - mean_);
  }
  in_day_ = 0;
  high_in_day_ = 0;
}

double TailDependence::ByRuns() const {
  return (static_cast<double>(high_steps_) + hour_steps_) / (static_cast<double>(runs_) + 1);
}

double TailDependence::ByDays() const {
  constexpr double kPriorVariance = kPriorShare * (1 - kPriorShare) / kPriorSamplesPerDay;
  const double share = (mean_ * days_ + kPriorShare * kPriorDays) / (days_ + kPriorDays);
  const double degrees = std::max(0.0, days_ - 1);
  const double variance = (squares_ + kPriorVariance * kPriorDays) / (degrees + kPriorDays);
  return static_cast<double>(day_steps_) * variance / (share * (1 - share));
}

double TailDependence::StepsPerSample() const {
  const auto day = static_cast<double>(day_steps_);
  return std::clamp(std::max(ByRuns(), ByDays()), 1.0, std::max(1.0, day));
}

}  // namespace taut::brain
