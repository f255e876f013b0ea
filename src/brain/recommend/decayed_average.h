// The decayed mean of window means: equation (2) of Autopilot with the same windows in numerator and
// denominator (docs/references.md, A1).
#pragma once

#include <cmath>

#include "brain/recommend/stored_values.h"
#include "common/base/bytes.h"
#include "common/base/time.h"

namespace taut::brain {

// All windows have equal initial weight, which halves per half-life. Windows without a mean are not added.
class DecayedAverage {
 public:
  explicit DecayedAverage(double half_life_s)
      : half_life_s_(half_life_s), keep_one_(std::exp2(-static_cast<double>(kWindowSeconds) / half_life_s)) {}

  // Adds a window's mean. Windows must ascend; a repeated window counts again.
  void Add(double mean, WindowId window) {
    if (weight_ > 0 && window.index > last_window_) {
      const int32_t elapsed = window.index - last_window_;
      const double keep =
          elapsed == 1 ? keep_one_ : std::exp2(-1.0 * elapsed * kWindowSeconds / half_life_s_);
      sum_ *= keep;
      weight_ *= keep;
    }
    last_window_ = window.index;
    sum_ += mean;
    weight_ += 1;
  }
  // Returns the mean; 0 if nothing was added.
  double Get() const { return weight_ > 0 ? sum_ / weight_ : 0; }

  void Save(ByteWriter& out) const {
    out.Put(sum_);
    out.Put(weight_);
    out.Put(last_window_);
  }
  void Load(ByteReader& in) {
    sum_ = in.Get<double>();
    weight_ = in.Get<double>();
    last_window_ = in.Get<int32_t>();
  }
  // Returns false if the loaded values cannot come from Save.
  bool IsPossible() const {
    return IsStoredAmount(sum_) && IsStoredAmount(weight_) && IsStoredWindow(last_window_);
  }

 private:
  double half_life_s_;
  double keep_one_;
  double sum_ = 0;
  double weight_ = 0;
  int32_t last_window_ = 0;
};

}  // namespace taut::brain
