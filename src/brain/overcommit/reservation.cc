#include "brain/overcommit/reservation.h"

#include <algorithm>
#include <cmath>

#include "brain/overcommit/history.h"

namespace taut::brain {

std::optional<double> Reservation::Step(WindowId window, const Figures& figures,
                                        const ReservationSettings& settings) {
  if (first_.index == INT32_MIN) first_ = last_ = window;
  const double windows = static_cast<double>(window.index) - last_.index;
  last_ = window;
  const double target = figures.usage.has_value() ? *figures.usage * (1 + settings.margin) : kAbsent;
  const bool begins = (int64_t{window.index} - first_.index) * kWindowSeconds < settings.start_s;
  if (begins && figures.asked.has_value()) {
    value_ = std::max(*figures.asked, target);
  } else if (target >= 0 && target >= value_) {
    value_ = target;  // the reservation was absent or too low
  } else if (target >= 0) {
    value_ = target + (value_ - target) * std::exp2(-windows / (settings.half_life_h * kWindowsPerHour));
  } else if (value_ < 0 && figures.asked.has_value()) {
    value_ = *figures.asked;
  }
  if (figures.cap.has_value() && value_ > *figures.cap) value_ = *figures.cap;
  return value();
}

void Reservation::Save(ByteWriter& out) const {
  out.Put(value_);
  out.Put(first_.index);
  out.Put(last_.index);
}

absl::StatusOr<Reservation> Reservation::Load(ByteReader& in) {
  Reservation out;
  out.value_ = in.Get<double>();
  out.first_.index = in.Get<int32_t>();
  out.last_.index = in.Get<int32_t>();
  if (absl::Status s = in.status("a reservation"); !s.ok()) return s;
  const bool begun = IsWindow(out.first_.index) && IsWindow(out.last_.index) && out.first_ <= out.last_;
  if (!std::isfinite(out.value_) || (!begun && (out.value_ >= 0 || out.first_.index != INT32_MIN)))
    return absl::DataLossError("a reservation that is none");
  return out;
}

}  // namespace taut::brain
