// The horizontal half of Autopilot by CPU utilisation (AP §3.3; papers.md §1.5, A15, A16).
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
  // The mean of one averaging window.
  struct Windowed {
    int64_t window = 0;
    double value = 0;
  };
  // Closes the window that `window` comes after.
  void CloseWindow(int64_t window, int current);
  double Statistic() const;

  AutopilotReplicaSettings settings_;
  ReplicaBounds bounds_;
  std::optional<int64_t> window_;  // the open one
  double sum_ = 0;
  int samples_ = 0;
  std::deque<Windowed> averages_;  // of the horizon
  double frozen_capacity_ = 0;     // of a task, at the last change of the count; 0: none yet
  double capacity_ = 0;            // now
  double statistic_ = 0;
  CountSmoother smoother_;  // empty: no window has closed
  int decided_ = 0;
  bool held_ = true;
};

}  // namespace taut::brain
