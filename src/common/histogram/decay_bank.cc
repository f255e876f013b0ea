// Implements the bank of decayed histograms, with forward decay and one scale per rate.
#include "common/histogram/decay_bank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "common/base/time.h"
#include "common/histogram/exp2.h"

namespace taut {
namespace {

constexpr int kLanes = DecayRates::kLanes;
constexpr float kPruneMassShare = 1e-6F;
// A value below this share of its mass is set to 0: the value has no effect, and would decay to slow denormal
// floats.
constexpr float kFlushShare = 1e-12F;
// Rows are rescaled once per day of windows, or before the fastest rate's scale would exceed 2^60.
constexpr int32_t kRescaleWindows = kWindowsPerDay;
constexpr double kMaxLogScale = 60;
constexpr float kMaxScaledMass = 0x1p+62F;  // 4 times a mass of 1 at the largest scale, to allow for rounding
constexpr int32_t kMaxWindows = 1 << 30;

// A row or a sum of rows in vector registers. Padding lanes are always 0.
class Lanes {
 public:
  explicit Lanes(int stride) : two_(stride > kLanes) {}

  void Add(const float* row) {
    for (int i = 0; i <= int{two_}; ++i) {
      Vector v;
      std::memcpy(&v, row + i * kLanes, sizeof(v));
      part_[i] += v;
    }
  }
  // Writes the product with `factor`, lane by lane, to `row`.
  void StoreTimes(const Lanes& factor, float* row) const {
    for (int i = 0; i <= int{two_}; ++i) {
      const Vector product = part_[i] * factor.part_[i];
      std::memcpy(row + i * kLanes, &product, sizeof(product));
    }
  }
  float get(size_t m) const { return part_[m / kLanes][m % kLanes]; }
  void set(size_t m, float value) { part_[m / kLanes][m % kLanes] = value; }
  // 1 / lane; 0 where the lane is 0.
  Lanes Inverse() const {
    Lanes out(two_ ? 2 * kLanes : kLanes);
    for (size_t m = 0; m < DecayRates::kMax; ++m) out.set(m, get(m) > 0 ? 1.0F / get(m) : 0.0F);
    return out;
  }

 private:
  typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));

  Vector part_[DecayRates::kMax / kLanes] = {};
  bool two_;
};

Lanes SumOfRows(const BucketFloats& rows) {
  Lanes sum(rows.stride());
  const std::span<const float> values = rows.values();
  const auto stride = static_cast<size_t>(rows.stride());
  for (size_t i = 0; i < values.size(); i += stride) sum.Add(&values[i]);
  return sum;
}

}  // namespace

DecayRates::DecayRates(std::span<const double> keep) : size_(static_cast<int>(keep.size())) {
  assert(!keep.empty() && keep.size() <= kMax);
  for (size_t m = 0; m < keep.size(); ++m) {
    assert(keep[m] > 0 && keep[m] < 1);
    d_[m] = 1.0 - keep[m];
    halvings_[m] = -std::log2(keep[m]);
    max_halvings_ = std::max(max_halvings_, halvings_[m]);
  }
}

DecayRates DecayRates::FromHalfLives(std::span<const double> half_lives_s) {
  std::vector<double> keep;
  for (const double s : half_lives_s) keep.push_back(std::exp2(-static_cast<double>(kWindowSeconds) / s));
  return DecayRates(keep);
}

void DecayBank::Step(int32_t windows_elapsed, std::span<const BucketShare> signal) {
  assert(windows_elapsed >= 0);
  // Saturates, because a job may pause for any length of time. An empty bank has no age: its scale starts at 1
  // again.
  windows_ += std::min(windows_elapsed, kMaxWindows - windows_);
  if (empty()) windows_ = 0;
  double weight = 0;
  for (const BucketShare& s : signal) weight += double{s.weight};
  if (!(weight > 0)) return;
  const bool rescaled = windows_ >= kRescaleWindows || windows_ * rates_->max_halvings() > kMaxLogScale;
  if (rescaled) Rescale();
  // Halvings and d of padding lanes are 0, so that these lanes stay 0.
  alignas(32) std::array<float, DecayRates::kMax> gain = {};
  for (int m = 0; m < rates_->size(); ++m) {
    gain[static_cast<size_t>(m)] = static_cast<float>(rates_->d(m) * Exp2(windows_ * rates_->halvings(m)));
  }
  for (const BucketShare& s : signal) {
    if (!(s.weight > 0)) continue;
    const auto share = static_cast<float>(s.weight / weight);
    float* const row = rows_.FindOrInsert(s.bucket);
    for (int block = 0; block < stride(); block += kLanes) {
      for (int i = 0; i < kLanes; ++i) row[block + i] += gain[static_cast<size_t>(block + i)] * share;
    }
  }
  // Prune after the signal is added: buckets must be compared with the current mass, not with the mass before
  // the addition.
  if (rescaled) Prune();
}

void DecayBank::Rescale() {
  std::array<float, DecayRates::kMax> factor = {};
  for (int m = 0; m < rates_->size(); ++m) {
    factor[static_cast<size_t>(m)] = static_cast<float>(Exp2(-windows_ * rates_->halvings(m)));
  }
  const std::span<float> values = rows_.values();
  const auto lanes = static_cast<size_t>(stride());
  for (size_t i = 0; i < values.size(); ++i) values[i] *= factor[i % lanes];
  windows_ = 0;
}

void DecayBank::Prune() {
  const Lanes mass = SumOfRows(rows_);
  const auto lanes = static_cast<size_t>(stride());
  const std::span<float> values = rows_.values();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < kFlushShare * mass.get(i % lanes)) values[i] = 0;
  }
  rows_.EraseIf([&](Bucket, const float* row) {
    for (size_t m = 0; m < lanes; ++m) {
      if (row[m] > 0 && row[m] >= kPruneMassShare * mass.get(m)) return false;
    }
    return true;
  });
}

void DecayBank::InverseMasses(std::span<float> out) const {
  const Lanes inverse = SumOfRows(rows_).Inverse();
  for (size_t m = 0; m < static_cast<size_t>(stride()); ++m) out[m] = inverse.get(m);
}

double DecayBank::Mass(int m) const {
  double sum = 0;
  rows_.ForEach([&](Bucket, const float* row) { sum += double{row[m]}; });
  return sum * Exp2(-windows_ * rates_->halvings(m));
}

void DecayBank::Shares(BankShares* out) const {
  const auto lanes = static_cast<size_t>(stride());
  const auto count = static_cast<size_t>(size());
  out->stride = stride();
  out->buckets.resize(count);
  out->over.resize(count * lanes);
  out->under.resize(count * lanes);
  const Lanes inverse = SumOfRows(rows_).Inverse();
  // Sum each table from its own end of the rows: 1 minus the opposite share would lose small tails to rounding.
  Lanes below(stride());
  ForEach([&](int position, Bucket b, const float* row) {
    const auto at = static_cast<size_t>(position);
    out->buckets[at] = b;
    below.StoreTimes(inverse, &out->under[at * lanes]);
    below.Add(row);
  });
  Lanes above(stride());
  for (size_t at = count; at-- > 0;) {
    above.StoreTimes(inverse, &out->over[at * lanes]);
    above.Add(Row(static_cast<int>(at)));
  }
}

void DecayBank::Save(ByteWriter& out) const {
  out.PutVarint(static_cast<uint64_t>(rates_->size()));
  out.PutVarint(static_cast<uint64_t>(windows_));
  rows_.Save(out);
}

absl::Status DecayBank::Load(ByteReader& in) {
  const uint64_t rates = in.GetVarint();
  const uint64_t windows = in.GetVarint();
  if (absl::Status s = in.status("a bank of decayed histograms"); !s.ok()) return s;
  if (rates != static_cast<uint64_t>(rates_->size())) {
    return absl::InvalidArgumentError(
        fmt::format("corrupt decay bank: {} decay rates; expected {}", rates, rates_->size()));
  }
  if (windows > kMaxWindows) return absl::DataLossError("corrupt decay bank: age out of range");
  BucketFloats rows(stride());
  if (absl::Status s = rows.Load(in, Grid::kMaxBuckets); !s.ok()) return s;
  for (size_t i = 0; i < rows.values().size(); ++i) {
    const bool padding = static_cast<int>(i) % stride() >= rates_->size();
    if (rows.values()[i] > (padding ? 0.0F : kMaxScaledMass)) {
      return absl::DataLossError("corrupt decay bank: impossible weight");
    }
  }
  rows_ = std::move(rows);
  windows_ = static_cast<int32_t>(windows);
  return absl::OkStatus();
}

}  // namespace taut
