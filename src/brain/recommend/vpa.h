// The Kubernetes VPA's recommender as a comparator, with its published constants (docs/references.md,
// "Kubernetes VPA"): its own histograms (176 buckets growing by 5 %), p90 target, 15 % margin, 24 h half-life,
// daily memory peaks, minima of 25 millicores and 250 MiB, and the confidence-scaled bounds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"

namespace taut::brain {

// The VPA's exponential histogram: bucket n starts at first * (1.05^n - 1) / 0.05; weights decay with a
// half-life.
class VpaHistogram {
 public:
  static constexpr int kBuckets = 176;
  static constexpr double kFirstCpu = 0.01, kFirstMemory = 1e7;  // cores, bytes
  // `first` is the width of the first bucket: 0.01 cores or 1e7 bytes.
  VpaHistogram(double first, double half_life_s);

  // A bucket's weight as a VerticalPodAutoscalerCheckpoint has it: the largest is 10,000.
  struct Weight {
    int bucket = 0;
    uint32_t weight = 0;
  };
  // That of a checkpoint: weights that add up to `total` at `reference_s`. InvalidArgument: a bucket that there is
  // not, or a total that is no amount, or weights without a total.
  static absl::StatusOr<VpaHistogram> OfCheckpoint(double first, double half_life_s,
                                                   std::span<const Weight> weights, double total,
                                                   int64_t reference_s);

  void Add(double value, double weight, int64_t time_s);  // weight may be negative: takes a sample back
  // The end of the first bucket at which the weights reach p of the total (the last bucket: its start); 0 if
  // empty.
  double Percentile(double p) const;
  bool empty() const;
  static double BucketStart(double first, int n);

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  int BucketOf(double value) const;
  void Rescale(int64_t time_s);

  double first_;
  double half_life_s_;
  int64_t reference_s_ = 0;
  bool started_ = false;
  double total_ = 0;
  std::vector<double> weights_;
};

// Lower bound, target and upper bound after margin, confidence and minimum.
struct VpaEstimate {
  double lower = 0, target = 0, upper = 0;
};
// Percentiles in, bounds out. confidence_days = min(days between first and last sample, CPU samples / 1440);
// 0 makes the lower bound 0 (then the minimum) and the upper bound infinite.
VpaEstimate VpaBounds(double p50, double p90, double p95, double confidence_days, double minimum,
                      double margin);

// The same of a histogram and the settings' percentiles, margin and minimum.
VpaEstimate EstimateOf(const VpaHistogram& histogram, Resource resource, const VpaSettings& settings,
                       double confidence_days);

// The limit is the VPA's target (what it would set as the request; its limit keeps the ratio that the owner
// chose).
std::unique_ptr<Recommender> NewVpaRecommender(Resource resource, VpaSettings settings, OomSettings oom);

}  // namespace taut::brain
