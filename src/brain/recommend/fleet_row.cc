// Saves and loads the input of a decision.
#include "brain/recommend/fleet_row.h"

#include <cmath>

#include "brain/recommend/analog_grid.h"
#include "brain/recommend/stored_values.h"

namespace taut::brain {

void AnalogCase::Save(ByteWriter& out) const {
  for (const float f : features) out.Put(f);
  out.Put(own.size);
  for (size_t i = 0; i < own.size; ++i) {
    out.Put(own.bin[i]);
    out.Put(own.weight[i]);
  }
  for (const double v : {week_peak, floor, kept_limit, owner_limit, tasks, price_factor}) out.Put(v);
}

bool AnalogCase::Load(ByteReader& in, uint8_t version) {
  for (float& f : features) f = in.Get<float>();
  own.size = in.Get<uint8_t>();
  if (own.size > OwnHistory::kMax) return false;
  for (size_t i = 0; i < own.size; ++i) {
    own.bin[i] = in.Get<uint8_t>();
    own.weight[i] = in.Get<float>();
    if (own.bin[i] >= AnalogGrid::kBins || !IsStoredAmount(own.weight[i])) return false;
  }
  for (double* v : {&week_peak, &floor, &kept_limit, &owner_limit}) {
    *v = in.Get<double>();
    if (!std::isfinite(*v)) return false;
  }
  if (version >= 2) tasks = in.Get<double>();
  if (version >= 3) price_factor = in.Get<double>();
  return IsStoredAmount(week_peak) && IsStoredAmount(floor) && IsStoredAmount(tasks) && tasks >= 1 &&
         IsStoredAmount(price_factor) && price_factor > 0;
}

}  // namespace taut::brain
