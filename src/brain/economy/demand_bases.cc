#include "brain/economy/demand_bases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace taut::brain {
namespace {

constexpr int64_t kSlotS = 1800;
constexpr int64_t kDaySlots = 86'400 / kSlotS;
constexpr double kDailyMemory = 7;   // memory of a daily slot, in days
constexpr double kWeeklyMemory = 4;  // memory of a weekly slot, in weeks
constexpr int64_t kMostPoints = 7 * kDaySlots;
constexpr double kHighShare = 0.25;  // share of a forecast curve that counts as its high part
constexpr std::string_view kNames[kDemandBases] = {"mean of the last week", "daily season and the last hour",
                                                   "weekly season and the last hour",
                                                   "highs of the last week", "highs of the last day"};

int64_t SlotSeconds(int64_t step_s) { return std::max(kSlotS, step_s); }

}  // namespace

SeasonProfile::SeasonProfile(int64_t slots, int64_t slot_steps, double memory, int64_t hour_steps)
    : slot_steps_(slot_steps),
      hour_steps_(hour_steps),
      gain_(std::min(1.0, 2 / (static_cast<double>(hour_steps) / 2 + 1))),
      least_gain_(1 / (memory * static_cast<double>(slot_steps))),
      mean_(static_cast<size_t>(slots)),
      visits_(static_cast<size_t>(slots)),
      errors_(static_cast<size_t>(hour_steps)) {}

size_t SeasonProfile::SlotOf(int64_t step) const {
  return static_cast<size_t>(step / slot_steps_) % mean_.size();
}

void SeasonProfile::Add(int64_t step, double deviation) {
  if (std::isnan(deviation)) return;
  const size_t slot = SlotOf(step);
  const double error = deviation - mean_[slot];
  visits_[slot] += 1;
  const double gain = std::max(least_gain_, 1.0 / visits_[slot]);
  mean_[slot] += static_cast<float>(gain * error);
  error_ += gain_ * (error - error_);
  // Estimates persistence by regression of the current error on the error of an hour ago.
  double& hour_ago = errors_[static_cast<size_t>(errors_seen_ % hour_steps_)];
  if (errors_seen_ >= hour_steps_) {
    const double keep = 1 - least_gain_ / kDaySlots;
    product_ = keep * product_ + error_ * hour_ago;
    square_ = keep * square_ + hour_ago * hour_ago;
    const double per_hour = square_ > 0 ? std::clamp(product_ / square_, 0.0, 0.999) : 0;
    persistence_ = std::pow(per_hour, 1 / static_cast<double>(hour_steps_));
  }
  hour_ago = error_;
  ++errors_seen_;
}

double SeasonProfile::ForecastAt(int64_t step, int64_t ahead) const {
  return mean_[SlotOf(step)] + error_ * std::pow(persistence_, static_cast<double>(ahead));
}

DemandBases::DemandBases(int64_t step_s, int64_t horizon_steps, double promise)
    : day_steps_(86'400 / step_s),
      horizon_steps_(horizon_steps),
      promise_(promise),
      ring_(static_cast<size_t>(7 * day_steps_), std::numeric_limits<double>::quiet_NaN()),
      daily_(86'400 / SlotSeconds(step_s), SlotSeconds(step_s) / step_s, kDailyMemory, 3600 / step_s),
      weekly_(7 * 86'400 / SlotSeconds(step_s), SlotSeconds(step_s) / step_s, kWeeklyMemory, 3600 / step_s),
      scratch_(static_cast<size_t>(day_steps_)) {}

void DemandBases::Add(double use) {
  const auto at = [&](int64_t step) -> double& { return ring_[static_cast<size_t>(step) % ring_.size()]; };
  const auto add = [](Sum& sum, double value, int64_t sign) {
    if (std::isnan(value)) return;
    sum.sum += static_cast<double>(sign) * value;
    sum.n += sign;
  };
  // These calls must precede the addition of the step to the means, because a forecast must not include the step
  // that it forecasts.
  daily_.Add(step_, use - DayMean());
  weekly_.Add(step_, use - WeekMean());
  if (step_ >= day_steps_) add(day_, at(step_ - day_steps_), -1);
  add(week_, at(step_), -1);  // this call removes the value of a week ago
  at(step_) = use;
  add(day_, use, 1);
  add(week_, use, 1);
  if (++step_ % day_steps_ == 0) EndDay();
}

void DemandBases::EndDay() {
  size_t n = 0;
  for (int64_t i = step_ - day_steps_; i < step_; ++i) {
    const double use = ring_[static_cast<size_t>(i) % ring_.size()];
    if (!std::isnan(use)) scratch_[n++] = use;
  }
  if (n == 0) return;
  const auto rank = std::min(n - 1, static_cast<size_t>(promise_ * static_cast<double>(n)));
  std::nth_element(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(rank),
                   scratch_.begin() + static_cast<std::ptrdiff_t>(n));
  highs_[static_cast<size_t>(days_++ % 7)] = scratch_[rank];
}

double DemandBases::HighOfCurve(const SeasonProfile& profile, double level) const {
  std::array<double, kMostPoints> curve;
  const int64_t points = std::min(horizon_steps_, kMostPoints);
  for (int64_t i = 0; i < points; ++i) {
    const int64_t ahead = 1 + (2 * i + 1) * horizon_steps_ / (2 * points);
    curve[static_cast<size_t>(i)] = profile.ForecastAt(step_ - 1 + ahead, ahead);
  }
  const int64_t high = std::max<int64_t>(1, std::lround(kHighShare * static_cast<double>(points)));
  std::nth_element(curve.begin(), curve.begin() + high, curve.begin() + points, std::greater<>());
  double sum = 0;
  for (int64_t i = 0; i < high; ++i) sum += curve[static_cast<size_t>(i)];
  return level + sum / static_cast<double>(high);
}

void DemandBases::Forecast(std::array<double, kDemandBases>& out) const {
  const int64_t known = std::min<int64_t>(days_, 7);
  double highs = 0;
  for (int64_t i = 0; i < known; ++i) highs += highs_[static_cast<size_t>(i)];
  out[0] = WeekMean();
  out[1] = HighOfCurve(daily_, DayMean());
  out[2] = HighOfCurve(weekly_, WeekMean());
  out[3] = known > 0 ? highs / static_cast<double>(known) : WeekMean();
  out[4] = known > 0 ? highs_[static_cast<size_t>((days_ - 1) % 7)] : WeekMean();
}

double DemandBases::MeasuredOfDay() const {
  return static_cast<double>(day_.n) / static_cast<double>(day_steps_);
}

std::string_view DemandBases::NameOf(size_t base) { return kNames[base]; }

}  // namespace taut::brain
