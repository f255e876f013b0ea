// Autopilot's horizontal scaling by CPU utilisation (Autopilot §3.3; docs/algorithms/replicas.md).
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "brain/replicas/count_smoother.h"
#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

class AutopilotReplicaPolicy final : public ReplicaPolicy {
 public:
  AutopilotReplicaPolicy(const AutopilotReplicaSettings& settings, const ReplicaBounds& bounds)
      : settings_(settings), bounds_(bounds), smoother_(settings) {}

  int Decide(const LoadSample& sample) override;
  void Explain(Reason& reason) const override;
  std::unique_ptr<ReplicaPolicy> Clone() const override {
    return std::make_unique<AutopilotReplicaPolicy>(*this);
  }
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;
  size_t state_bytes() const override;

 private:
  // The mean load of one averaging window.
  struct Windowed {
    int64_t window = 0;
    double value = 0;
  };
  // Closes the open window, which must precede `window`, and passes its recommendation to smoother_.
  void CloseWindow(int64_t window, int current);
  double Statistic() const;

  AutopilotReplicaSettings settings_;
  ReplicaBounds bounds_;
  std::optional<int64_t> window_;  // number of the open window; absent before the first sample
  double sum_ = 0;
  int samples_ = 0;
  std::deque<Windowed> averages_;  // means of the measured windows in the horizon, ascending by window
  double frozen_capacity_ = 0;     // capacity of a task at the last change of the count; 0: none yet
  double capacity_ = 0;            // current capacity of a task, in units of the load
  double statistic_ = 0;
  CountSmoother smoother_;  // smoother, which is empty until a window has closed
  int decided_ = 0;
  bool held_ = true;
};

}  // namespace taut::brain
