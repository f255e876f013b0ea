// The part of analogs (brain/recommend/analogs.h) that is learnt from all jobs of a fleet. It consists of the
// forest that forecasts a job's next peak, and of the price of an OOM-day at which the target share is met.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "brain/recommend/analog_decision.h"
#include "brain/recommend/distribution_forest.h"
#include "brain/recommend/fleet_row.h"
#include "brain/recommend/fleet_share.h"
#include "brain/recommend/settings.h"
#include "common/base/bytes.h"
#include "common/model/resource.h"

namespace taut::brain {

// Constants that calibrate a target share, for a fleet and for a job (docs/algorithms/vertical.md).
// kJudgeDecay is the decay per day of the counts of promised and observed OOM-days. kDebtDecay is the decay per
// day of the accumulated deviation from the target share, which is compensated over kDebtDays.
inline constexpr double kJudgeDecay = 0.95;
inline constexpr double kDebtDecay = 0.98, kDebtDays = 14;
inline constexpr double kJudgePrior = 10;  // OOM-days added to the promised and to the observed count

// Returns the share to aim at, so that the debt is compensated; between half and twice the target share.
inline double WantedShare(double order, double debt) {
  return std::clamp(order + debt / kDebtDays, order / 2, 2 * order);
}
// Returns the price after the `times`-th solution. The logarithm moves a tenth of the way. The first prices are
// based on few days and may be far off: while 1 / times exceeds a tenth, the price is the geometric mean of all
// solutions so far.
double MovedPrice(double price, double solved, int times);

// The model shared by all jobs of a fleet for one resource: a sample of history, the forest trained on this
// sample, and the price. Read-only except for CloseDay, which one thread calls between days.
class AnalogFleet {
 public:
  AnalogFleet(Resource resource, const AnalogSettings& settings);

  // Learns from the day that ended; retrains the forest and changes the price when due.
  void CloseDay(AnalogShare share);
  // Returns an upper bound of the keys of lessons that can still enter the sample of history.
  uint64_t sample_bound() const { return history_.bound(); }
  // Learns from a day. REQUIRES: `rows` contains all rows of the day.
  void CloseDay(int32_t day, const FleetRows& rows);

  // Returns false while the fleet has too little history for a forecast.
  bool ready() const { return !forest_.empty(); }
  const DistributionForest& forest() const { return forest_; }
  // Price of an OOM-day in byte-days or core-days. Valid if ready().
  double price() const { return price_; }
  // Mean owner's limit over the jobs of the last day (for a job without owner's limit: the week's peak). The
  // charge for a change of a limit is a share of this mean.
  double mean_limit() const { return mean_limit_; }
  // Share of warnings (usage close to the limit) that were followed by an overrun: the chance that a reactive
  // raise averts an overrun.
  double warning_hazard() const { return (warnings_true_ + 1) / (warnings_ + 10); }
  Resource resource() const { return resource_; }
  const AnalogSettings& settings() const { return settings_; }
  uint64_t rows_seen() const { return rows_seen_; }
  // Returns the forecast for a job. REQUIRES: ready().
  AnalogCdf Forecast(const AnalogCase& job) const;

  // Returns a fleet with equal forecasts and the price for a target share of `share`, as of last midnight. The
  // returned fleet has no history and cannot learn. Costs a copy of the forest and, if `share` is not the
  // target share, SolvePrice.
  AnalogFleet ForecasterFor(double share) const;

  // Appends the state: about 120 bytes per row of history and 4 bytes per row and tree, before compression, or
  // some 30 MB for 100,000 rows.
  void Save(ByteWriter& out) const;
  // Restores the state that Save wrote for a fleet with equal resource and settings. On DataLoss or
  // InvalidArgument nothing changes.
  absl::Status Load(ByteReader& in);

 private:
  void Learn(const AnalogShare& share);
  void Judge(const AnalogShare& share);
  void MovePrice(AnalogShare& share);
  double PriceFor(double share) const;
  double ordered_share() const;

  Resource resource_;
  AnalogSettings settings_;
  BottomK<DistributionForest::Row> history_;  // uniform sample of all rows
  uint64_t rows_seen_ = 0;
  uint64_t rows_at_training_ = 0;
  int32_t first_day_ = INT32_MAX;
  int32_t trained_day_ = INT32_MIN;
  DistributionForest forest_;
  double price_ = 0;
  double mean_limit_ = 0;
  int times_priced_ = 0;
  std::vector<AnalogCase> priced_jobs_;  // the jobs for which the price was last solved
  // Decayed sums of promised and observed OOM-days, and the accumulated deviation from the target share.
  double promised_ = 0, realised_ = 0, debt_ = 0;
  // Decayed sums of warnings, and of warnings that were followed by an overrun.
  double warnings_ = 0, warnings_true_ = 0;
};

}  // namespace taut::brain
