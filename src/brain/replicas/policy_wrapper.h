// The base of wrappers around a replica policy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/replicas/replica_policy.h"

namespace taut::brain {

// Forwards all calls. A derived wrapper overrides the functions that it changes, and must override Clone and
// state_bytes.
class ReplicaPolicyWrapper : public ReplicaPolicy {
 public:
  explicit ReplicaPolicyWrapper(std::unique_ptr<ReplicaPolicy> inner) : inner_(std::move(inner)) {}

  int Decide(const LoadSample& sample) override { return inner_->Decide(sample); }
  std::optional<int> TakeExternal(std::optional<ExternalTasks> answer) override {
    return inner_->TakeExternal(std::move(answer));
  }
  std::span<const std::string> signals() const override { return inner_->signals(); }
  bool reads_load() const override { return inner_->reads_load(); }
  std::vector<std::string> Missing(const LoadSample& sample) const override {
    return inner_->Missing(sample);
  }
  std::optional<LoadBand> Forecast() const override { return inner_->Forecast(); }
  void Explain(Reason& reason) const override { inner_->Explain(reason); }
  std::string NoNumber() const override { return inner_->NoNumber(); }
  void Save(ByteWriter& out) const override { inner_->Save(out); }
  absl::Status Load(ByteReader& in) override { return inner_->Load(in); }

 protected:
  ReplicaPolicy& inner() { return *inner_; }
  const ReplicaPolicy& inner() const { return *inner_; }

  // Loads the inner state into a copy, so that a wrapper stays unchanged after an error. A wrapper with its own
  // state calls ReplaceInner after it has read its own state.
  absl::StatusOr<std::unique_ptr<ReplicaPolicy>> LoadedInner(ByteReader& in) const {
    std::unique_ptr<ReplicaPolicy> copy = inner_->Clone();
    if (absl::Status s = copy->Load(in); !s.ok()) return s;
    return copy;
  }
  void ReplaceInner(std::unique_ptr<ReplicaPolicy> inner) { inner_ = std::move(inner); }

 private:
  std::unique_ptr<ReplicaPolicy> inner_;
};

}  // namespace taut::brain
