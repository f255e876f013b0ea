// A comparator that is published elsewhere: Kubernetes' HPA. KEDA is this one behind replicas/activation.h.
#pragma once

#include <memory>
#include <vector>

#include "replicas/hpa_math.h"
#include "replicas/replica_policy.h"
#include "replicas/settings.h"

namespace taut {

// Its metric is the load over the capacity of the ready tasks. A starting task is an unready pod.
class HpaPolicy final : public ReplicaPolicy {
 public:
  HpaPolicy(const HpaSettings& settings, const ReplicaBounds& bounds)
      : settings_(settings), bounds_(bounds) {}

  int Decide(const LoadSample& sample) override;
  void Explain(Reason& reason) const override;
  std::unique_ptr<ReplicaPolicy> Clone() const override { return std::make_unique<HpaPolicy>(*this); }
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;
  size_t state_bytes() const override;

 private:
  void Forget(double now_s);

  HpaSettings settings_;
  ReplicaBounds bounds_;
  std::vector<HpaAdvice> advice_;
  std::vector<HpaChange> ups_, downs_;
  HpaProposal proposal_;
  int current_ = 0, stable_ = 0, decided_ = 0;
  bool held_ = true;  // the load was absent
};

}  // namespace taut
