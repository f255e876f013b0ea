// The pool: the distribution of a machine's peak from all machines of the cell, at an ordered share of
// machine-days whose peak passes the prediction. docs/algorithms/overcommit.md, "The pool".
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

// What a machine's recent usage shows, in the unit of the resource.
struct PoolFeatures {
  double limit = 0;          // sum of the tasks' limits
  double day = 0, week = 0;  // the machine's highest usage of so long
  double fortnight = 0;      //
  double own_week = 0;       // sum of the tasks' own highest usages of a week
};

// A forecast is base + q * scale, where q is a quantile of (peak - base) / scale over past forecasts; the
// prediction is the mean of those of all bases.
struct PoolBase {
  std::string_view name, what;
  double (*base)(const PoolFeatures&);
  double (*scale)(const PoolFeatures&);  // positive if the limit is
};
inline constexpr size_t kPoolBases = 3;
std::span<const PoolBase, kPoolBases> PoolBases();

// How far the peaks of past forecasts were above their bases, in scales: counts of bins of 0.001.
class PoolErrors {
 public:
  PoolErrors();
  void Add(double error);
  uint64_t n() const { return n_; }
  // At most a share `over` of n + 1 errors is above it (the upper edge of a bin). REQUIRES: n() > 0.
  double Quantile(double over) const;

  void Save(ByteWriter& out) const;  // the bins that are not empty
  absl::Status Load(ByteReader& in);

 private:
  std::vector<uint32_t> counts_;
  uint64_t n_ = 0;
};

// The share whose quantile is used, so that in the long run the ordered share is delivered: it moves against
// what was delivered (adaptive conformal inference; references.md).
class PoolOrder {
 public:
  PoolOrder(double ordered, double gain) : ordered_(ordered), gain_(gain), used_(ordered) {}
  // The share of machines whose peak passed the forecasts of one time.
  void Take(double passed);
  double used() const { return used_; }
  // As of before a restart. False: out of the bounds that Take keeps.
  bool Restore(double used);

 private:
  double ordered_, gain_, used_;
};

// What it has learnt of a cell can be used for machines that it never observed.
class PoolForecaster : public DurablePredictor {
 public:
  // The q of each base, once min_days of forecasts were compared.
  virtual std::optional<std::array<double, kPoolBases>> Quantiles() const = 0;
  virtual double MachineDays() const = 0;  // of forecasts that were compared
};
std::unique_ptr<PoolForecaster> NewPoolPredictor(const PoolSettings& settings, double horizon_h);

}  // namespace taut::brain
