// The pool: predicts a machine's peak from the distribution of the forecast errors of all machines of the cell.
// The target share is the share of machine-days whose peak exceeds the prediction.
// docs/algorithms/overcommit.md, "The pool".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "brain/overcommit/peak_predictor.h"
#include "brain/overcommit/settings.h"

namespace taut::brain {

// Features of a machine's recent usage, in the unit of the resource. For a horizon below a day, `day`, `week` and
// `fortnight` count only the hours of the day that the horizon covers, and the last 6 hours.
struct PoolFeatures {
  double limit = 0;          // sum of the limits of all tasks
  double day = 0, week = 0;  // the machine's highest usage in the last day, and in the last week
  double fortnight = 0;      // the machine's highest usage in the last two weeks
  double own_week = 0,
         own_day = 0;  // sums of the highest usage of each task in the last week, and in the last day
  double recent = 0;   // the machine's highest usage in the last 6 hours
};

// A rule that forecasts base + q * scale, where q is a quantile of (peak - base) / scale over past forecasts.
// The prediction is the mean of the forecasts of all rules.
struct PoolBase {
  std::string_view name, what;
  double (*base)(const PoolFeatures&);
  double (*scale)(const PoolFeatures&);  // scale, > 0 if the machine's limit is > 0
};
inline constexpr size_t kPoolBases = 3;
enum class PoolHorizon { kDay, kPartOfDay };
std::span<const PoolBase, kPoolBases> PoolBases(PoolHorizon horizon);

// Errors of past forecasts, (peak - base) / scale, as counts in bins of 0.001 from -2 to 48. Errors outside this
// range count in the first or last bin.
class PoolErrors {
 public:
  PoolErrors();
  void Add(double error);
  uint64_t n() const { return n_; }
  // Returns the upper edge of the lowest bin such that at most the share `over` of n + 1 errors exceeds it.
  // O(bins). REQUIRES: n() > 0.
  double Quantile(double over) const;

  void Save(ByteWriter& out) const;  // appends the bins with a count
  absl::Status Load(ByteReader& in);

 private:
  std::vector<uint32_t> counts_;
  uint64_t n_ = 0;
};

// Controls the share in use. The pool predicts with the quantile of this share, so that the target share is
// delivered in the long run. The share in use falls if the delivered share is too high, and rises if the delivered
// share is too low (adaptive conformal inference; docs/references.md).
class PoolOrder {
 public:
  PoolOrder(double ordered, double gain) : ordered_(ordered), gain_(gain), used_(ordered) {}
  // Updates the share in use. `passed` is the share of exceeded forecasts among the forecasts that were made at
  // one time. A forecast is exceeded if the machine's peak is higher.
  void Take(double passed);
  double used() const { return used_; }
  // Restores the share in use after a restart. Returns false if `used` is outside the bounds that Take keeps.
  bool Restore(double used);

 private:
  double ordered_, gain_, used_;
};

// A pool that also returns quantiles, for predictions of machines that the pool never observed.
class PoolForecaster : public DurablePredictor {
 public:
  // Returns the quantile q of each rule; nullopt before min_days of forecasts were compared with the peaks.
  virtual std::optional<std::array<double, kPoolBases>> Quantiles() const = 0;
  virtual double MachineDays() const = 0;  // machine-days of forecasts that were compared with the peaks
};
std::unique_ptr<PoolForecaster> NewPoolPredictor(const PoolSettings& settings, double horizon_h);

}  // namespace taut::brain
