// The forecast policy: plans the number of tasks for the load at the time when a task started now becomes ready
// (docs/algorithms/replicas.md).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "brain/replicas/idle_runs.h"
#include "brain/replicas/load_model.h"
#include "brain/replicas/quarter_rises.h"
#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"
#include "brain/replicas/start_price.h"

namespace taut::brain {

// Selects the count with the least tasks + price * P(overloaded) at each step. The price adapts to the target
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
  // Returns the greatest useful count: the count for a load somewhat above the highest load so far, regardless of
  // the price.
  int Most() const;
  double Price() const;
  double Cost(bool far, int count) const;
  // Returns the count with the least cost for the load at the end of the start-up time if `far`, else for the
  // load one step ahead.
  int Best(bool far) const;
  // Returns wanted_ if its gain justifies the starts, the tasks to keep if fewer tasks are wanted, else `current`.
  int Move(int current) const;
  double StartCost() const { return settings_.forecast.change_price * start_price_.Factor(); }
  // Returns the count while history is too short: from the load changes of other jobs if they are known, else
  // from the load and a cautious target. Like the HPA, returns the highest of these counts in the last 5
  // minutes.
  int Cautious(const LoadSample& sample);
  // Returns the count with the least cost, given the distribution of other jobs' load changes.
  int BestByAnalogs(const LoadAnalogs& analogs);

  ReplicaSettings settings_;
  LoadModel model_;
  QuarterRises rises_;
  int64_t last_step_ = INT64_MIN;
  int64_t steps_ = 0;      // number of observed steps
  double mean_tasks_ = 0;  // mean number of busy tasks of the last day
  double highest_ = 0;     // highest number of busy tasks, which halves in two weeks
  double log_price_;       // logarithm of price / (mean tasks / target share)
  IdleRuns idle_;
  StartPrice start_price_;
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
  bool moved_ = false;  // true if the last Decide changed the count
  // True from the time when another program set the running count until a change by this policy takes effect. An
  // overload at another program's count must not change the price.
  bool set_by_others_ = false;
};

}  // namespace taut::brain
