// A comparator that is published elsewhere: Kubernetes' HPA. KEDA is this one behind brain/replicas/activation.h.
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

// Its first metric is the load over the capacity of the ready tasks, unless HpaMetrics::without_load. Starting
// tasks are unready pods. With further metrics the largest count that one of them asks for is taken; where one is
// not measured, the count does not fall (horizontal.go: computeReplicasForMetrics).
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
  void Forget(double now_s);
  // The largest of the metrics' proposals into proposal_; false: the count stays.
  bool Propose(const LoadSample& sample);
  void ProposeOfLoad(const LoadSample& sample);
  // Of one further metric; absent: not measured.
  std::optional<int> ProposalOf(const HpaMetric& metric, const LoadSample& sample) const;
  std::optional<double> ValueOf(std::string_view signal, const LoadSample& sample) const;
  std::string HeldSentence() const;
  absl::Status LoadMetrics(ByteReader& in);

  HpaSettings settings_;
  ReplicaBounds bounds_;
  std::vector<std::string> signals_;  // that the metrics read
  uint32_t missing_ = 0;              // metrics that were not measured: bit 0 the load, 1 and on the others
  int decisive_ = 0;                  // the metric that proposal_ is of, as in missing_
  std::vector<HpaAdvice> advice_;
  std::vector<HpaChange> ups_, downs_;
  HpaProposal proposal_;
  int current_ = 0, stable_ = 0, decided_ = 0;
  bool held_ = true;  // nothing was measured, or too little to go down
};

}  // namespace taut::brain
