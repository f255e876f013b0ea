// The part of analogs (brain/recommend/analogs.h) that is learnt from all jobs of a fleet: the forest that
// forecasts a job's next peak, and the price of an OOM-day at which the ordered share is met.
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

// Calibration of an ordered share, for a fleet and for a job (docs/algorithms/vertical.md): decay per day of
// past promises, and the rate at which a debt against the order is compensated.
inline constexpr double kJudgeDecay = 0.95;
inline constexpr double kDebtDecay = 0.98, kDebtDays = 14;

// The model shared by all jobs of a fleet for one resource: a sample of history, the forest trained on it,
// and the price. Read-only except for CloseDay, which one thread calls between days.
class AnalogFleet {
 public:
  AnalogFleet(Resource resource, const AnalogSettings& settings);

  // Adds the rows of the day that ended, in a fixed order of jobs; retrains the forest and moves the price
  // when due.
  void CloseDay(int32_t day, const FleetRows& rows);

  // False while the fleet has too little history to forecast.
  bool ready() const { return !forest_.empty(); }
  const DistributionForest& forest() const { return forest_; }
  // Byte-days or core-days per OOM-day. Valid when ready().
  double price() const { return price_; }
  // Mean owner's limit over the jobs of the last day (the week's peak of jobs without one): the unit in which
  // a limit change is priced.
  double mean_limit() const { return mean_limit_; }
  // Share of warnings (usage close to the limit) that were followed by an overrun: the chance that a reactive
  // raise averts one.
  double warning_hazard() const { return (warnings_true_ + 1) / (warnings_ + 10); }
  Resource resource() const { return resource_; }
  const AnalogSettings& settings() const { return settings_; }
  uint64_t rows_seen() const { return rows_seen_; }
  // Returns the forecast for a job. REQUIRES: ready().
  AnalogCdf Forecast(const AnalogCase& job) const;

  // Returns a fleet with the same forecasts, at the price that an order of `share` would have had last
  // midnight. It has no history and cannot learn. Costs a copy of the forest and, for another share than the
  // ordered one, SolvePrice.
  AnalogFleet ForecasterFor(double share) const;

  // About 120 bytes per row of history and 4 per row and tree, before compression: some 30 MB for 100,000
  // rows.
  void Save(ByteWriter& out) const;
  // Restores what Save of a fleet with the same resource and settings wrote. On DataLoss or InvalidArgument
  // nothing changes.
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
  std::vector<DistributionForest::Row> history_;  // uniform sample of all rows (reservoir)
  uint64_t rows_seen_ = 0;
  uint64_t rows_at_training_ = 0;
  int32_t first_day_ = INT32_MAX;
  int32_t trained_day_ = INT32_MIN;
  DistributionForest forest_;
  double price_ = 0;
  double mean_limit_ = 0;
  int times_priced_ = 0;
  std::vector<AnalogCase> priced_jobs_;  // the jobs on which the price was last solved
  // Decayed sums of promised and realised OOM-days, and the debt against the order.
  double promised_ = 0, realised_ = 0, debt_ = 0;
  double warnings_ = 0, warnings_true_ = 0;  // decayed in the same way
};

}  // namespace taut::brain
