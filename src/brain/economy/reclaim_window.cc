#include "brain/economy/reclaim_window.h"

#include <cmath>
#include <limits>

namespace taut::brain {

double ReclaimWindow::Add(double available) {
  const int64_t now = step_++;
  while (head_ < tail_ && At(head_).step < now - steps_) ++head_;
  if (std::isnan(available)) return std::numeric_limits<double>::quiet_NaN();
  const auto passes = [&](double old) {
    return reading_ == ReclaimReading::kKept ? old >= available : old <= available;
  };
  while (head_ < tail_ && passes(At(tail_ - 1).value)) --tail_;
  At(tail_++) = {now, available};
  return At(head_).value;
}

}  // namespace taut::brain
