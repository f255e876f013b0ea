// From recommended numbers of tasks to smooth ones (AP §3.3): deferred downscaling, slow decay, no small
// changes, limited growth.
#pragma once

#include <cstdint>
#include <deque>

#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"
#include "brain/replicas/stored_values.h"

namespace taut::brain {

class CountSmoother {
 public:
  explicit CountSmoother(const AutopilotReplicaSettings& settings) : settings_(settings) {}

  // A recommendation in the window of this number (settings.average_s each). The count may fall by as many
  // steps as windows have passed since the last one: 0 in the same window, where only a rise counts.
  void Push(int64_t window, int64_t windows_passed, int raw, int current);
  // The smoothed count; `sample` tells what runs. Only after a Push.
  int Count(const LoadSample& sample) const;

  bool empty() const { return smoothed_ == 0; }
  // The highest recommendation of the deferral.
  double deferred() const { return deferred_; }

  // The two parts of the state, so that a policy can write its own between them.
  void SaveRecommendations(ByteWriter& out) const;
  void SaveFigures(ByteWriter& out) const;
  // After a failure of `in` the object is not to be used.
  void LoadRecommendations(StoredValues& in);
  void LoadFigures(StoredValues& in);
  size_t heap_bytes() const { return raw_.size() * sizeof(Raw); }

 private:
  struct Raw {
    int64_t window = 0;
    double count = 0;
  };
  int LimitGrowth(int count, const LoadSample& sample) const;

  AutopilotReplicaSettings settings_;
  std::deque<Raw> raw_;  // of the deferral, descending
  double deferred_ = 0;
  double trajectory_ = 0;  // real-valued, so that few tasks shrink as many do
  int smoothed_ = 0;       // 0: no recommendation yet
};

}  // namespace taut::brain
