// Kubernetes' HPA as a comparator. WithActivation (brain/replicas/activation.h) makes this policy KEDA.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "brain/replicas/hpa_math.h"
#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// The first metric is the load divided by the capacity of the ready tasks, unless HpaMetrics::without_load is
// set; starting tasks are unready pods. The largest proposed count of all metrics is used. If a metric is not
// measured, the count does not fall (horizontal.go: computeReplicasForMetrics). docs/algorithms/replicas.md,
// "Policies".
class HpaPolicy final : public ReplicaPolicy {
 public:
  HpaPolicy(const HpaSettings& settings, const ReplicaBounds& bounds);

  int Decide(const LoadSample& sample) override;
  void Explain(Reason& reason) const override;
  std::span<const std::string> signals() const override { return signals_; }
  bool reads_load() const override { return !settings_.metrics.without_load; }
  std::unique_ptr<ReplicaPolicy> Clone() const override { return std::make_unique<HpaPolicy>(*this); }
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;
  size_t state_bytes() const override;

 private:
  // Removes events that are older than all windows and periods.
  void Forget(double now_s);
  // Stores the largest proposal of all metrics in proposal_. Returns false if the count must stay.
  bool Propose(const LoadSample& sample);
  void ProposeOfLoad(const LoadSample& sample);
  // Returns the proposal of a further metric; nullopt if the metric is not measured.
  std::optional<int> ProposalOf(const HpaMetric& metric, const LoadSample& sample) const;
  std::optional<double> ValueOf(std::string_view signal, const LoadSample& sample) const;
  std::string HeldSentence() const;
  absl::Status LoadMetrics(ByteReader& in);

  HpaSettings settings_;
  ReplicaBounds bounds_;
  std::vector<std::string> signals_;  // signals that the metrics read
  // bits of the unmeasured metrics: bit 0 is the load, bits from 1 on are the other metrics
  uint32_t missing_ = 0;
  int decisive_ = 0;  // metric of proposal_, numbered as in missing_
  std::vector<HpaAdvice> advice_;
  std::vector<HpaChange> ups_, downs_;
  HpaProposal proposal_;
  int current_ = 0, stable_ = 0, decided_ = 0;
  bool held_ = true;  // true if the metrics were not measured, or were too few to scale down
};

}  // namespace taut::brain
