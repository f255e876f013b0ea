// D decayed histograms of one signal in one sparse array: the state of the ensemble recommender for a job.
//
//   H_m[t] = (1 - d_m)^(windows since t') H_m[t'] + d_m * s[t],   s[t] normalised to sum 1
//
// (docs/references.md, A7 and C4.)
//
// The overrun and underrun fractions o_m(L) and u_m(L) of Autopilot's equations (4) and (5) are the suffix
// and prefix sums of H_m. The histograms are therefore the whole state for every model and every limit. Both
// fractions are returned as shares of H_m's own mass, which removes the bias towards 0 at the start (A8).
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

// The decay rates of a bank. All banks of one configuration share one object, which must outlive them.
class DecayRates {
 public:
  static constexpr int kMax = 16;
  static constexpr int kLanes = 8;  // rows are padded to a multiple of this

  // keep[m] = 1 - d_m, in (0, 1): the share of a histogram that remains after one window. 1 <= size <= kMax.
  explicit DecayRates(std::span<const double> keep);
  // Converts half-lives in seconds, each > 0: 1 - d = 2^(-300 s / half-life) (docs/references.md, C5).
  static DecayRates FromHalfLives(std::span<const double> half_lives_s);

  int size() const { return size_; }
  int stride() const { return (size_ + kLanes - 1) / kLanes * kLanes; }
  double d(int m) const { return d_[static_cast<size_t>(m)]; }
  // -log2(1 - d_m): number of halvings per window.
  double halvings(int m) const { return halvings_[static_cast<size_t>(m)]; }
  double max_halvings() const { return max_halvings_; }

 private:
  int size_;
  double max_halvings_ = 0;
  std::array<double, kMax> d_ = {};  // 0 in padding lanes, to which a signal then adds nothing
  std::array<double, kMax> halvings_ = {};
};

// Shares of the mass above and below each bucket, for each rate. Buckets are ascending. Row i of a table starts at
// i * stride, and padding lanes are 0. A caller reuses one object to save allocations.
struct BankShares {
  int stride = 0;
  std::vector<Bucket> buckets;
  std::vector<float> over;   // share strictly above: o(UpperBound(bucket))
  std::vector<float> under;  // share strictly below: u(UpperBound(bucket))
};

// Not thread-safe.
class DecayBank {
 public:
  // `rates` must outlive the bank.
  explicit DecayBank(const DecayRates& rates) : rates_(&rates), rows_(rates.stride()) {}

  // Advances time by `windows_elapsed` >= 0 windows and adds the signal, normalised to sum 1. Buckets may be
  // in any order, each at most once; non-positive weights are skipped, and a signal without weight only
  // advances time. O(entries * D). Once per day of windows all rows are rescaled, and buckets with a share
  // below 1e-6 at every rate are dropped.
  void Step(int32_t windows_elapsed, std::span<const BucketShare> signal);

  bool empty() const { return rows_.empty(); }
  int size() const { return rows_.size(); }      // number of present buckets
  int stride() const { return rows_.stride(); }  // floats per row: the rates, padded to a multiple of 8
  const DecayRates& rates() const { return *rates_; }
  Bucket Lowest() const { return rows_.Lowest(); }    // REQUIRES: !empty()
  Bucket Highest() const { return rows_.Highest(); }  // REQUIRES: !empty()
  // Calls fn(int position, Bucket, const float* scaled_row) in ascending order. Lane m of a row is the bucket's
  // value in H_m, times a factor that is equal for all rows. Lane m times lane m of InverseMasses is the bucket's
  // share of the mass.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    int position = 0;
    rows_.ForEach([&](Bucket b, const float* row) { fn(position++, b, row); });
  }
  // Returns the scaled row at a position in 0..size()-1.
  const float* Row(int position) const {
    return rows_.values().data() + static_cast<size_t>(position) * static_cast<size_t>(stride());
  }
  // Writes stride() floats: 1 / mass in the scale of the rows; 0 for a rate without mass and in the padding.
  void InverseMasses(std::span<float> out) const;
  // Returns the sum of H_m as of the last Step: 1 - (1 - d_m)^t after t windows without a gap. Callers that
  // use the equations without bias correction compute H = share * Mass.
  double Mass(int m) const;
  // Computes all over- and underrun shares at all rates in two passes over the rows.
  void Shares(BankShares* out) const;

  size_t state_bytes() const { return sizeof(*this) + rows_.heap_bytes(); }

  void Save(ByteWriter& out) const;
  // Replaces the content by the bytes that Save wrote for the same number of rates. On InvalidArgument
  // (another number of rates) or DataLoss (bytes that Save cannot have written) the bank is unchanged.
  absl::Status Load(ByteReader& in);

 private:
  void Rescale();
  void Prune();

  const DecayRates* rates_;
  BucketFloats rows_;    // H_m * 2^(halvings_m * windows_)
  int32_t windows_ = 0;  // windows since the last rescale
};

}  // namespace taut
