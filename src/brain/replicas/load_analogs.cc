#include "brain/replicas/load_analogs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace taut::brain {
namespace {

constexpr int kMiddle = LoadMoves::kBins / 2;
constexpr double kBinsPerDoubling = 8;  // bins of 9 %, so that ratios extend to 16
constexpr float kKeepOfDay = 0.95170F;  // decay per day, with a half-life of 14 days

double PlaceOf(double ratio) { return kMiddle + kBinsPerDoubling * std::log2(ratio); }

}  // namespace

void LoadMoves::Add(double before, double after) {
  double place = kMiddle;
  if (before > 0 && after > 0) {
    place = std::clamp(std::round(PlaceOf(after / before)), 0.0, kBins - 1.0);
  } else if (after > before) {
    place = kBins - 1;
  } else if (after < before) {
    place = 0;
  }
  counts_[static_cast<size_t>(place)] += 1;
}

void LoadMoves::Merge(const LoadMoves& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

void LoadMoves::Scale(float factor) {
  for (float& c : counts_) c *= factor;
}

double LoadMoves::total() const { return std::accumulate(counts_.begin(), counts_.end(), 0.0); }

double LoadMoves::ChanceAbove(double ratio) const {
  // Ratios are assumed to be uniform within a bin, except in the last bin, whose ratios may be arbitrarily
  // large.
  const double place = PlaceOf(ratio) + 0.5;
  if (place <= 0) return 1;
  const auto bin = static_cast<size_t>(std::min(place, kBins - 1.0));
  double above = 0;
  for (size_t i = bin + 1; i < counts_.size(); ++i) above += counts_[i];
  const bool is_last = bin == counts_.size() - 1;
  above += counts_[bin] * (is_last ? 1 : 1 - (place - static_cast<double>(bin)));
  return above / total();
}

void LoadMoves::Save(ByteWriter& out) const {
  for (const float c : counts_) out.Put(c);
}

absl::Status LoadMoves::Load(ByteReader& in) {
  std::array<float, kBins> counts{};
  bool possible = true;
  for (float& c : counts) {
    c = in.Get<float>();
    possible = possible && c >= 0 && std::isfinite(c);
  }
  if (absl::Status s = in.status("moves of loads"); !s.ok()) return s;
  if (!possible) return absl::DataLossError("moves of loads: invalid count");
  counts_ = counts;
  return absl::OkStatus();
}

void LoadAnalogs::CloseDay() { moves_.Scale(kKeepOfDay); }

}  // namespace taut::brain
