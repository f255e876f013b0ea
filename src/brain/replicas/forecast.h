// Ours: the count for the load that is to be expected when a task that is started now is ready
// (docs/algorithms/replicas.md).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "brain/replicas/load_model.h"
#include "brain/replicas/quarter_rises.h"
#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// The count of a step is the one with the least tasks + price * P(overloaded). The price follows from the
// ordered share: it rises by each overloaded step and falls by each other one.
class ForecastPolicy final : public ReplicaPolicy {
 public:
  explicit ForecastPolicy(const ReplicaSettings& settings);

  int Decide(const LoadSample& sample) override;
  std::optional<LoadBand> Forecast() const override;
  void Explain(Reason& reason) const override;
  std::unique_ptr<ReplicaPolicy> Clone() const override { return std::make_unique<ForecastPolicy>(*this); }
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;
  size_t state_bytes() const override;

 private:
  enum class Basis : uint8_t { kHeld, kShortHistory, kForecast, kAnalogs };

  int DecideFor(const LoadSample& sample);
  void Calibrate(bool overloaded);
  // Enough for a load somewhat above the highest so far: more tasks have never been of use, whatever the price.
  int Most() const;
  double Price() const;
  double Cost(bool far, int count) const;
  // The count with the least cost of a step with this load.
  int Best(bool far) const;
  // From `current` towards `wanted`, where that is worth a change.
  int Move(int current, int wanted);
  // Too little history: what the loads of other jobs ask for, else load over a cautious target; held for minutes
  // as HPA does.
  int Cautious(const LoadSample& sample);
  // The count with the least cost, if the load moves as those of other jobs did.
  int BestByAnalogs(const LoadAnalogs& analogs);

  ReplicaSettings settings_;
  LoadModel model_;
  QuarterRises rises_;
  int64_t last_step_ = INT64_MIN;
  int64_t steps_ = 0;      // observed
  double mean_tasks_ = 0;  // busy, of the last day
  double highest_ = 0;     // busy, half after two weeks
  double log_price_;       // of the price over mean tasks / ordered share
  double regret_ = 0;      // what the tasks above the wanted count have cost since they were last needed
  struct Wanted {
    Timestamp at;
    int count = 0;
  };
  std::vector<Wanted> cautious_;  // of the hold, descending
  Basis basis_ = Basis::kHeld;
  Timestamp at_;
  double load_ = 0, capacity_ = 1;
  std::optional<double> rise_chance_;  // of kAnalogs: of a load above the utilisation; not saved
  int wanted_ = 0, decided_ = 0;
  bool moved_ = false;  // the last Decide asked for another count than the one that ran
  // The count that runs was set by others, who may not care for overload; until a move of this policy's is
  // followed.
  bool set_by_others_ = false;
};

}  // namespace taut::brain
