// The target-size source of Autopilot's horizontal scaling (AP §3.3): n = f[t], the owner's own function of
// the job's signals, smoothed as the recommendation by utilisation is.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "replicas/count_smoother.h"
#include "replicas/replica_policy.h"
#include "replicas/settings.h"
#include "replicas/span_statistics.h"
#include "replicas/target_expression.h"

namespace taut {

class FunctionPolicy final : public ReplicaPolicy {
 public:
  // With settings that CheckReplicaSettings rejects, the count never changes.
  explicit FunctionPolicy(const ReplicaSettings& settings);

  int Decide(const LoadSample& sample) override;
  void Explain(Reason& reason) const override;
  std::unique_ptr<ReplicaPolicy> Clone() const override;
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;
  size_t state_bytes() const override;

 private:
  enum class Basis : uint8_t { kFunction, kInvalid, kAbsent, kNoCount, kSilent };

  Basis Choose(const LoadSample& sample, int& count);
  double Evaluate(const LoadSample& sample);
  // The highest count of the last day.
  void Remember(int64_t at_s, int count);
  int SafeCount() const;

  static constexpr size_t kHours = 25;  // a day and the open hour

  FunctionReplicaSettings settings_;
  AutopilotReplicaSettings smoothing_;
  double step_s_;
  ReplicaBounds bounds_;
  std::string invalid_;  // why there is no expression; before it, which sets this
  std::optional<TargetExpression> expression_;
  SpanStatistics spans_;
  CountSmoother smoother_;
  std::optional<int64_t> window_;      // of the last decision
  std::optional<int64_t> heard_s_;     // when the load was last measured, or the first decision
  std::optional<int64_t> hour_;        // of the last decision
  std::array<int, kHours> highest_{};  // count by hour, the last one at hour_
  Basis basis_ = Basis::kAbsent;
  double value_ = 0;  // of the function, when it was last evaluated
  double silent_s_ = 0;
  int decided_ = 0;
};

}  // namespace taut
