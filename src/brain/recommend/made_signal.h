// A signal that owns its data, for tests and benchmarks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/model/signal.h"

namespace taut::brain {

// Must not be copied or moved after get(), because the signal refers to the object's members.
class MadeSignal {
 public:
  // Builds the signal as the engine does: for memory, each task counts at its peak; for CPU, `seconds` count at
  // each task's mean.
  MadeSignal(Resource resource, int32_t window, std::vector<TaskUsage> tasks,
             std::optional<double> owner = {}, double seconds = 300)
      : tasks_(std::move(tasks)) {
    std::map<Bucket, double> weights;
    for (const TaskUsage& t : tasks_) {
      weights[GridOf(resource).BucketOf(t.peak)] += ThrottlesAtLimit(resource) ? seconds : 1;
    }
    Fill(resource, window, weights, owner);
  }
  // Builds the signal of one task with constant usage.
  MadeSignal(Resource resource, int32_t window, double value, std::optional<double> owner = {})
      : MadeSignal(resource, window, {{0, static_cast<float>(value), static_cast<float>(value)}}, owner) {}
  // Weights by bucket. The signal has one task, which peaks at the upper bound of the highest bucket.
  struct AtBuckets {
    std::map<Bucket, double> weights;
  };
  MadeSignal(Resource resource, int32_t window, const AtBuckets& at) {
    const auto top = static_cast<float>(GridOf(resource).UpperBound(at.weights.rbegin()->first));
    tasks_ = {{0, top, top}};
    Fill(resource, window, at.weights, std::nullopt);
  }

  const Signal& get() const { return signal_; }
  operator const Signal&() const { return signal_; }  // NOLINT: converts to the signal without a cast

 private:
  void Fill(Resource resource, int32_t window, const std::map<Bucket, double>& weights,
            std::optional<double> owner) {
    signal_.window = WindowId{window};
    signal_.owner_limit = owner;
    double sum = 0;
    for (const auto& [bucket, weight] : weights) {
      buckets_.push_back({bucket, static_cast<float>(weight)});
      signal_.weight += weight;
      sum += weight * GridOf(resource).UpperBound(bucket);
    }
    signal_.mean = signal_.weight > 0 ? sum / signal_.weight : 0;
    for (const TaskUsage& t : tasks_) signal_.peak = std::max<double>(signal_.peak, t.peak);
    signal_.buckets = buckets_;
    signal_.tasks = tasks_;
  }

  std::vector<TaskUsage> tasks_;
  std::vector<BucketWeight> buckets_;
  Signal signal_{.window = {}, .buckets = {}, .tasks = {}, .owner_limit = {}};
};

}  // namespace taut::brain
