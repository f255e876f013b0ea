// The forecast policy: the number of tasks for the load that is expected when a task started now is ready
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

// At each step it selects the count with the least tasks + price * P(overloaded). The price adapts to the ordered
// share: an overloaded step raises the price, any other step lowers it. Not thread-safe.
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
  // Returns the greatest useful count: whatever the price, no more tasks than for a load somewhat above the
  // highest load so far.
  int Most() const;
  double Price() const;
  double Cost(bool far, int count) const;
  // Returns the count with the least cost for the load one step ahead, or at the end of the start-up time if
  // `far`.
  int Best(bool far) const;
  // Returns `wanted` if its gain justifies a change, else `current`.
  int Move(int current, int wanted);
  // Returns the count while history is too short: from the load changes of other jobs, else load over a cautious
  // target. The result is the highest of these counts in the last 5 minutes, as in the HPA.
  int Cautious(const LoadSample& sample);
  // Returns the count with the least cost if the load changes as other jobs' loads did.
  int BestByAnalogs(const LoadAnalogs& analogs);

  ReplicaSettings settings_;
  LoadModel model_;
  QuarterRises rises_;
  int64_t last_step_ = INT64_MIN;
  int64_t steps_ = 0;      // steps observed
  double mean_tasks_ = 0;  // mean number of busy tasks of the last day
  double highest_ = 0;     // highest number of busy tasks, halving in two weeks
  double log_price_;       // logarithm of price / (mean tasks / ordered share)
  double regret_ = 0;      // accumulated cost of tasks above the wanted count
  struct Wanted {
    Timestamp at;
    int count = 0;
  };
  std::vector<Wanted> cautious_;  // counts of the last 5 minutes, strictly descending
  Basis basis_ = Basis::kHeld;
  Timestamp at_;
  double load_ = 0, capacity_ = 1;
  std::optional<double> rise_chance_;  // kAnalogs: chance of a load above the utilisation; not saved
  int wanted_ = 0, decided_ = 0;
  bool moved_ = false;  // the last Decide returned another count than the running one
  // True from the time when another program set the running count until a change by this policy takes effect.
  // Overload at a count of another program must not change the price.
  bool set_by_others_ = false;
};

}  // namespace taut::brain
