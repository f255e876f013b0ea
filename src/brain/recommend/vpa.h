// The Kubernetes VPA's recommender as a comparator, with its published constants (docs/references.md, "Kubernetes
// VPA"). The recommender has its own histograms (176 buckets growing by 5 %), a p90 target, 15 % margin, 24 h
// half-life and daily memory peaks. The minima are 25 millicores and 250 MiB; the bounds scale with confidence.
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
// half-life. Not thread-safe.
class VpaHistogram {
 public:
  static constexpr int kBuckets = 176;
  static constexpr double kFirstCpu = 0.01, kFirstMemory = 1e7;  // width of the first bucket in cores, bytes
  // `first` is the width of the first bucket, 0.01 cores or 1e7 bytes. REQUIRES: half_life_s >= 1.
  VpaHistogram(double first, double half_life_s);

  // The weight of a bucket in a VerticalPodAutoscalerCheckpoint, where the largest weight is 10,000.
  struct Weight {
    int bucket = 0;
    uint32_t weight = 0;
  };
  // Returns the histogram of a checkpoint: weights that sum to `total` at `reference_s`. Returns InvalidArgument
  // for an unknown bucket, an invalid total, or weights without a total.
  static absl::StatusOr<VpaHistogram> OfCheckpoint(double first, double half_life_s,
                                                   std::span<const Weight> weights, double total,
                                                   int64_t reference_s);

  void Add(double value, double weight,
           int64_t time_s);  // Adds a sample; a negative weight removes a sample.
  // Returns the end of the first bucket at which the cumulative weight is at least p of the total; for the last
  // bucket, returns the bucket's start. Returns 0 if the histogram is empty.
  double Percentile(double p) const;
  bool empty() const;
  // Returns the lower bound of bucket n.
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
// Computes the bounds from percentiles. confidence_days = min(days between first and last sample, CPU samples /
// 1440). With 0 confidence_days, the lower bound is `minimum` and the upper bound is infinite.
VpaEstimate VpaBounds(double p50, double p90, double p95, double confidence_days, double minimum,
                      double margin);

// Computes the bounds from a histogram and the percentiles, margin and minimum of the settings.
VpaEstimate EstimateOf(const VpaHistogram& histogram, Resource resource, const VpaSettings& settings,
                       double confidence_days);

// Recommends the VPA's target as the limit. (The VPA sets the target as the request, and changes the limit in
// proportion to the request.)
std::unique_ptr<Recommender> NewVpaRecommender(Resource resource, VpaSettings settings, OomSettings oom);

}  // namespace taut::brain
