// The pool: predicts a machine's peak from the distribution of forecast errors of all machines of the cell,
// so that the ordered share of machine-days exceeds the prediction. docs/algorithms/overcommit.md, "The
// pool".
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

// Features of a machine's recent usage, in the unit of the resource.
struct PoolFeatures {
  double limit = 0;          // sum of the tasks' limits
  double day = 0, week = 0;  // the machine's highest usage of a day, a week ...
  double fortnight = 0;      // ... and two weeks
  double own_week = 0;       // sum of the tasks' own highest usages of a week
};

// A forecast is base + q * scale, where q is a quantile of (peak - base) / scale over past forecasts. The
// prediction is the mean of the forecasts of all bases.
struct PoolBase {
  std::string_view name, what;
  double (*base)(const PoolFeatures&);
  double (*scale)(const PoolFeatures&);  // > 0 if the limit is > 0
};
inline constexpr size_t kPoolBases = 3;
std::span<const PoolBase, kPoolBases> PoolBases();

// Errors of past forecasts, (peak - base) / scale, as counts in bins of 0.001 from -2 to 48. Errors outside this
// range count in the first or last bin.
class PoolErrors {
 public:
  PoolErrors();
  void Add(double error);
  uint64_t n() const { return n_; }
  // Returns a bin's upper edge that at most the share `over` of n + 1 errors exceeds. O(bins). REQUIRES: n()
  // > 0.
  double Quantile(double over) const;

  void Save(ByteWriter& out) const;  // appends the bins that are not empty
  absl::Status Load(ByteReader& in);

 private:
  std::vector<uint32_t> counts_;
  uint64_t n_ = 0;
};

// Controls the share whose quantile is used, so that the ordered share is delivered in the long run: the share in
// use falls if the delivered share is too high, and rises if it is too low (adaptive conformal inference;
// docs/references.md).
class PoolOrder {
 public:
  PoolOrder(double ordered, double gain) : ordered_(ordered), gain_(gain), used_(ordered) {}
  // Updates the share in use. `passed`: share of machines whose peak exceeded the forecast, among the forecasts
  // made at one time.
  void Take(double passed);
  double used() const { return used_; }
  // Restores the share in use after a restart. Returns false if `used` is outside the bounds that Take keeps.
  bool Restore(double used);

 private:
  double ordered_, gain_, used_;
};

// A pool whose quantiles can be used for machines that the pool never observed.
class PoolForecaster : public DurablePredictor {
 public:
  // Returns the quantile q of each base; nullopt before min_days of forecasts were compared.
  virtual std::optional<std::array<double, kPoolBases>> Quantiles() const = 0;
  virtual double MachineDays() const = 0;  // machine-days of forecasts that were compared
};
std::unique_ptr<PoolForecaster> NewPoolPredictor(const PoolSettings& settings, double horizon_h);

}  // namespace taut::brain
