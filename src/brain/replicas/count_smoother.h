// Smooths recommended numbers of tasks (Autopilot §3.3): deferred downscaling, slow decay, no small changes,
// limited growth.
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

  // Adds the recommendation `raw` of window number `window`, whose length is settings.average_s.
  // `windows_passed` is the number of windows since the last call, and the number of steps by which the count
  // may decay. With 0 the count can only rise.
  void Push(int64_t window, int64_t windows_passed, int raw, int current);
  // Returns the smoothed count, given the running tasks in `sample`. REQUIRES: Push was called.
  int Count(const LoadSample& sample) const;

  bool empty() const { return smoothed_ == 0; }
  // Returns the highest recommendation in the deferral period.
  double deferred() const { return deferred_; }

  // Save the two parts of the state. A policy writes its own state between the two parts.
  void SaveRecommendations(ByteWriter& out) const;
  void SaveFigures(ByteWriter& out) const;
  // Load the two parts of the state. If `in` fails, the object must not be used.
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
  std::deque<Raw> raw_;  // recommendations in the deferral period, with strictly descending counts
  double deferred_ = 0;
  // Decayed count; a real number, so that small counts decay at the rate of large counts.
  double trajectory_ = 0;
  int smoothed_ = 0;  // smoothed count; 0: no recommendation yet
};

}  // namespace taut::brain
