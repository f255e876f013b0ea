// What analogs (brain/recommend/analogs.h) learn from all jobs of a fleet together: the forest that forecasts a
// job's next peak, and the price of an OOM-day at which the ordered share of them is met.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "brain/recommend/analog_decision.h"
#include "brain/recommend/distribution_forest.h"
#include "brain/recommend/fleet_row.h"
#include "brain/recommend/settings.h"
#include "common/base/bytes.h"
#include "common/base/random.h"
#include "common/model/resource.h"

namespace taut::brain {

// Calibration of an ordered share, of a fleet and of a job (docs/algorithms/vertical.md): how long kept
// promises count, and how strongly a debt against the order is worked off.
inline constexpr double kJudgeDecay = 0.95;
inline constexpr double kDebtDecay = 0.98, kDebtDays = 14;

// What all jobs of a fleet share for one resource: a sample of history, the forest trained on it, and the
// price. Read-only but for CloseDay, which one thread calls between days.
class AnalogFleet {
 public:
  AnalogFleet(Resource resource, const AnalogSettings& settings);

  // Takes in the rows of the day that ended, in a fixed order of jobs; retrains and moves the price when due.
  void CloseDay(int32_t day, const FleetRows& rows);

  // False while the fleet is too young to forecast.
  bool ready() const { return !forest_.empty(); }
  const DistributionForest& forest() const { return forest_; }
  // Byte-days or core-days per OOM-day. Meaningful when ready().
  double price() const { return price_; }
  // Mean over the jobs of the last day of the owner's limit (the week's peak where there is none): the unit
  // that a limit change is priced in.
  double mean_limit() const { return mean_limit_; }
  // How often a usage that came close under its limit passed it soon after: what a reactive raise can avert.
  double warning_hazard() const { return (warnings_true_ + 1) / (warnings_ + 10); }
  Resource resource() const { return resource_; }
  const AnalogSettings& settings() const { return settings_; }
  uint64_t rows_seen() const { return rows_seen_; }
  AnalogCdf Forecast(const AnalogCase& job) const;

  // A fleet that forecasts as this one does, at the price that `share` of OOM-days would have had last
  // midnight. It keeps no history and cannot learn. Costs a copy of the forest and, for another share than
  // the ordered one, SolvePrice.
  AnalogFleet ForecasterFor(double share) const;

  // About 60 bytes a row of history and 5 a row and tree, before compression: some 30 MB for 100,000 rows.
  void Save(ByteWriter& out) const;
  // Takes what Save of a fleet of the same resource and settings wrote; DataLoss or InvalidArgument
  // otherwise, and nothing has changed.
  absl::Status Load(ByteReader& in);

 private:
  void Learn(const FleetRows& rows);
  void Judge(const FleetRows& rows);
  void MovePrice(const FleetRows& rows);
  double PriceFor(double share) const;
  double ordered_share() const;

  Resource resource_;
  AnalogSettings settings_;
  Rng rng_;
  std::vector<DistributionForest::Row> history_;  // a uniform sample of all rows seen (reservoir)
  uint64_t rows_seen_ = 0;
  uint64_t rows_at_training_ = 0;
  int32_t first_day_ = INT32_MAX;
  int32_t trained_day_ = INT32_MIN;
  DistributionForest forest_;
  double price_ = 0;
  double mean_limit_ = 0;
  int times_priced_ = 0;
  std::vector<AnalogCase> priced_jobs_;  // a sample of the jobs, as the price was last solved on
  // Calibration: decayed sums of promised and realised OOM-days, and the debt against the order.
  double promised_ = 0, realised_ = 0, debt_ = 0;
  double warnings_ = 0, warnings_true_ = 0;  // decayed like these
};

}  // namespace taut::brain
