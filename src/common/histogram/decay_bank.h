// D decayed histograms of one signal in one sparse array: what the ensemble recommender remembers of a job.
//
//   H_m[t] = (1 - d_m)^(windows since t') H_m[t'] + d_m * s[t],   s[t] normalised to sum 1
//
// (docs/references.md, A7 and C4.)
//
// The over- and underrun fractions o_m(L), u_m(L) of Autopilot's equations (4) and (5) are the suffix and
// prefix sums of H_m, so this is the whole state for every model and every limit. Both are reported as shares
// of H_m's own mass, which removes the start's bias to 0 (A8).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "common/base/bytes.h"
#include "common/histogram/bucket_set.h"
#include "common/histogram/grid.h"

namespace taut {

using BucketShare = BucketWeight;

// The decay rates of a bank: shared by all banks of one configuration, must outlive them.
class DecayRates {
 public:
  static constexpr int kMax = 16;
  static constexpr int kLanes = 8;  // rows are padded to whole multiples of it

  // keep[m] = 1 - d_m, in (0, 1): what is left of a histogram after one window. 1 <= size <= kMax.
  explicit DecayRates(std::span<const double> keep);
  // From half-lives in seconds: 1 - d = 2^(-300 s / half-life) (docs/references.md, C5).
  static DecayRates FromHalfLives(std::span<const double> half_lives_s);

  int size() const { return size_; }
  int stride() const { return (size_ + kLanes - 1) / kLanes * kLanes; }
  double d(int m) const { return d_[static_cast<size_t>(m)]; }
  // -log2(1 - d_m): how many halvings a window is.
  double halvings(int m) const { return halvings_[static_cast<size_t>(m)]; }
  double max_halvings() const { return max_halvings_; }

 private:
  int size_;
  double max_halvings_ = 0;
  std::array<double, kMax> d_ = {};  // 0 in the padding: adds nothing
  std::array<double, kMax> halvings_ = {};
};

// For each bucket (ascending) and each rate the shares of the mass above and below it. Row i of a table
// starts at i * stride. Reused from call to call; padding lanes hold 0.
struct BankShares {
  int stride = 0;
  std::vector<Bucket> buckets;
  std::vector<float> over;   // strictly above: o(UpperBound(bucket))
  std::vector<float> under;  // strictly below: u(UpperBound(bucket))
};

class DecayBank {
 public:
  // `rates` must outlive the bank.
  explicit DecayBank(const DecayRates& rates) : rates_(&rates), rows_(rates.stride()) {}

  // Moves time on by `windows_elapsed` >= 0 windows and adds the signal, which is normalised to sum 1;
  // buckets in any order, at most one entry each. An empty signal (or one without weight) only moves time.
  // O(entries * D); once a day of windows all rows are rescaled and buckets below 1e-6 at every rate dropped.
  void Step(int32_t windows_elapsed, std::span<const BucketShare> signal);

  bool empty() const { return rows_.empty(); }
  int size() const { return rows_.size(); }      // buckets present
  int stride() const { return rows_.stride(); }  // floats per row: the rates padded to a multiple of 8
  const DecayRates& rates() const { return *rates_; }
  Bucket Lowest() const { return rows_.Lowest(); }    // REQUIRES: !empty()
  Bucket Highest() const { return rows_.Highest(); }  // REQUIRES: !empty()
  // fn(int position, Bucket, const float* scaled_row) in ascending order. Lane m of a row is H_m in units of
  // its own: times lane m of InverseMasses it is the bucket's share of the mass.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    int position = 0;
    rows_.ForEach([&](Bucket b, const float* row) { fn(position++, b, row); });
  }
  // The scaled row at a position in 0..size()-1.
  const float* Row(int position) const {
    return rows_.values().data() + static_cast<size_t>(position) * static_cast<size_t>(stride());
  }
  // stride() floats; 0 for a rate without mass and in the padding.
  void InverseMasses(std::span<float> out) const;
  // Sum of H_m as of the last Step: 1 - (1 - d_m)^t after t windows without a gap. For readers that want the
  // equations without bias correction: H = share * Mass.
  double Mass(int m) const;
  // All over- and underruns at all rates in two passes over the rows.
  void Shares(BankShares* out) const;

  size_t state_bytes() const { return sizeof(*this) + rows_.heap_bytes(); }

  void Save(ByteWriter& out) const;
  // Replaces the content by what Save wrote for as many rates. On error (InvalidArgument: another number of
  // rates; DataLoss: bytes that Save cannot have written) the bank is unchanged.
  absl::Status Load(ByteReader& in);

 private:
  void Rescale();
  void Prune();

  const DecayRates* rates_;
  BucketFloats rows_;    // H_m * 2^(halvings_m * windows_)
  int32_t windows_ = 0;  // since the last rescale
};

}  // namespace taut
