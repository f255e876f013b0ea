// Autopilot's horizontal scaling by target size (Autopilot §3.3): n = f[t], the owner's function of the job's
// signals. The count is smoothed like the recommendation by utilisation.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "brain/replicas/count_smoother.h"
#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"
#include "brain/replicas/span_statistics.h"
#include "brain/replicas/target_expression.h"

namespace taut::brain {

class FunctionPolicy final : public ReplicaPolicy {
 public:
  // With settings that CheckReplicaSettings rejects, Decide never changes the count.
  explicit FunctionPolicy(const ReplicaSettings& settings);

  int Decide(const LoadSample& sample) override;
  void Explain(Reason& reason) const override;
  std::string NoNumber() const override;
  std::span<const std::string> signals() const override;
  bool reads_load() const override;
  std::unique_ptr<ReplicaPolicy> Clone() const override;
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;
  size_t state_bytes() const override;

 private:
  enum class Basis : uint8_t { kFunction, kInvalid, kAbsent, kNoCount, kSilent };

  Basis Choose(const LoadSample& sample, int& count);
  // Stores the measured inputs; returns false if an input of the expression is not measured.
  bool TakeInputs(int64_t at_s, const LoadSample& sample);
  double Evaluate(const LoadSample& sample);
  // Returns the missing inputs with the verb: "The load was", "queue_length and cpu were".
  std::string MissingText(std::string_view was, std::string_view were) const;
  void SaveSignals(ByteWriter& out) const;
  // Records a count; SafeCount returns the highest count of the last day.
  void Remember(int64_t at_s, int count);
  int SafeCount() const;

  static constexpr size_t kHours = 25;  // number of hours in a day, plus the current hour

  FunctionReplicaSettings settings_;
  std::vector<std::string> known_signals_;
  AutopilotReplicaSettings smoothing_;
  double step_s_;
  ReplicaBounds bounds_;
  // The parse error; "" for a valid expression. Declared before expression_, whose initialiser sets it.
  std::string invalid_;
  std::optional<TargetExpression> expression_;
  // Statistics of the load, followed by statistics of each signal of signals().
  std::vector<SpanStatistics> spans_;
  std::vector<double> span_values_;    // values of expression_->spans()
  std::vector<double> signal_values_;  // last measured values of signals()
  // Inputs that were not measured in the last sample: bit 0 is the load, bit 1 the capacity, bits from 2 on the
  // signals.
  uint32_t missing_ = 0;
  CountSmoother smoother_;
  std::optional<int64_t> window_;   // averaging window of the last decision; absent before the first decision
  std::optional<int64_t> heard_s_;  // Unix time of the last complete inputs, or of the first decision
  std::optional<int64_t> hour_;     // hour of the last decision
  std::array<int, kHours> highest_{};  // highest count by hour; the last element is for hour_
  Basis basis_ = Basis::kAbsent;
  double value_ = 0;         // value of the function at its last evaluation
  bool is_limited_ = false;  // true if value_ was limited to max_step; not saved
  double silent_s_ = 0;
  int decided_ = 0;
};

}  // namespace taut::brain
