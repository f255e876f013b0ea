// The actuary of one pool, tier and horizon. It forecasts the part of the capacity unused by higher tiers that can
// be sold and will be available for a promised share of the time.
//
// Units are the caller's (cores, bytes, shares). Each step reports the capacity and the use of the higher tiers;
// sold capacity can be used while it fits into the difference. A quote is a quantile statement about time or about
// horizons (PromiseOf). The statement holds on average over many quotes, not for each quote.
//
// Method: several bases forecast the high use of the horizon. For each base, a histogram of the errors of past
// forecasts of this horizon yields the quantile, so that the quantile covers steps, seasons and growth within a
// horizon. The bases are weighted by the pinball loss of their past bounds.
// The quantile is corrected for the number of independent samples (split conformal prediction: Vovk et al. 2005)
// and adjusted by the deficit or surplus of past promises (adaptive conformal inference: Gibbs and Candes 2021).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/demand_bases.h"
#include "brain/economy/error_histogram.h"
#include "brain/economy/reclaim_window.h"
#include "brain/economy/tail_dependence.h"

namespace taut::brain {

enum class PromiseOf : uint8_t {
  kTime,     // the amount is available in a share `promise` of the steps; a single horizon may have less
  kHorizon,  // the amount is available in every step of a share `promise` of the horizons
};

struct ActuaryOptions {
  double capacity = 1;         // planned capacity of the pool and scale of the histograms, > 0
  int64_t step_s = 300;        // length of a step in seconds: a divisor of 1,800, or 3,600
  int64_t horizon_steps = 12;  // number of steps of the horizon, 1 step to 120 days
  double promise = 0.98;       // promised share of time or of horizons, [0.5, 0.99999]
  PromiseOf of = PromiseOf::kTime;
  int64_t reclaim_steps = 0;  // reclaim latency in steps, 0 to one day; see ReclaimReading
  ReclaimReading reading = ReclaimReading::kKept;
  double forget_days = 120;  // half-life of the error histograms in days, > 0
  double recover_days = 3;   // time constant for the compensation of past promises, in days, > 0
  // Highest risk that a surplus of past promises may cause, as a multiple of 1 - promise, [1, 10].
  double most_risk = 2.5;
  double history_days = 1;  // measured days before the first forecast, > 0
  // Disjoint horizons that must have been forecast and completed before a sale, [1, 100].
  double least_horizons = 1;
};

// Reason why a quote is refused.
enum class Refusal : uint8_t {
  kNone,
  kHorizonUnseen,  // fewer than least_horizons disjoint horizons were forecast and completed
  kTooFewSamples,  // too few independent samples for the promise
  kUnmeasured,     // less than half of the last day was measured
  kNothingLeft,    // the amount that can be sold is not above 0
};

// Data on which a quote is based.
struct Evidence {
  int64_t first_step = 0, last_step = 0;  // measured steps are in [first_step, last_step]
  int64_t measured_steps = 0;
  double samples = 0;           // number of steps of completed forecasts, with decaying weights
  double steps_per_sample = 1;  // number of steps that count as one independent sample, see TailDependence
  double independent = 0;       // samples / steps_per_sample; for kHorizon at most the number of horizons
  double needed = 0;            // least number of independent samples for which the quantile is meaningful
  double ordered_risk = 0;      // 1 - promise
  double calibrated_risk = 0;   // ordered_risk, adjusted by the outcome of past promises
  double used_risk = 0;         // calibrated_risk, corrected for few samples
  double promised_steps = 0, missed_steps = 0;  // steps of past promises; number of missed steps among them
  double horizons = 0;                          // number of disjoint horizons with a completed forecast
  double base = 0;                              // forecast of high use: weighted mean of the bases
  double margin = 0;                            // quantile of forecast errors that is added to `base`
  double planned_use = 0;                       // argument of Ask: planned use of the higher tiers
  std::string_view leading_base;
};

// An amount that can be sold, or the reason why nothing can be sold.
struct Quote {
  Refusal refusal = Refusal::kNone;
  double amount = 0;  // amount that can be sold; 0 if the quote is refused
  Evidence evidence;
  bool refused() const { return refusal != Refusal::kNone; }
};

// Returns one paragraph with the amount or the refusal, and with the evidence.
std::string Explain(const Quote& quote, const ActuaryOptions& options);

// The forecaster of one pool, tier and horizon. Not thread-safe.
class Actuary {
 public:
  // Returns InvalidArgument with the option, its value and the allowed range.
  static absl::StatusOr<Actuary> Make(const ActuaryOptions& options);

  // Adds the next step. NaN, negative and infinite values count as not measured. Steps must have no gaps. Step 0
  // should be at Monday 00:00, so that the evidence is readable; seasons only require a fixed origin. Does not
  // allocate. O(1), plus O(4,000) for a forecast every horizon / 12 steps.
  void Observe(double capacity, double higher_use);

  // Returns the total amount that can be sold for the horizon that starts with the next step. The caller subtracts
  // amounts that it has already sold for that time. `planned_use` >= 0 is additional use of the higher tiers in
  // the horizon: capacity that these tiers have bought but do not use yet. A forecast from their past use does not
  // include this capacity.
  Quote Ask(double planned_use = 0) const;

  // Records a promise of `amount` >= 0 for one horizon from the next step on. The new promise replaces an earlier
  // one. Calibration uses recorded promises if there are any, otherwise the quotes that the actuary would have
  // made.
  void Promised(double amount);
  // Returns the capacity less the use of the higher tiers, as ReclaimWindow computes it for the window that ends
  // with the last step; NaN if the last step was not measured.
  double available() const { return available_; }
  int64_t steps() const { return step_; }
  const ActuaryOptions& options() const { return options_; }

 private:
  static constexpr int kOverlap = 12;  // number of forecasts with which each step is compared
  using PerBase = std::array<double, kDemandBases>;
  struct Forecast {
    int64_t end = -1;  // last step of the forecast's horizon
    double capacity = 0;
    PerBase base = {}, bound = {};
    // Level of use that is exceeded in kTailShare of the steps.
    double tail = std::numeric_limits<double>::infinity();
    double amount = std::numeric_limits<double>::quiet_NaN();
    double highest = -std::numeric_limits<double>::infinity();  // highest use of the horizon so far
    int64_t measured = 0;                                       // number of measured steps of the horizon
  };

  explicit Actuary(const ActuaryOptions& options);
  double AvailableOf(double capacity, double higher_use);
  void Compare(double available);
  void CompleteForecasts();
  void Learn(const Forecast& forecast, double demand);
  void Calibrate(double missed, double steps);
  void MakeForecast();
  PerBase Weights() const;
  double CalibratedRisk() const;
  void FillEvidence(Evidence& evidence) const;

  ActuaryOptions options_;
  int64_t stride_;  // number of steps between two forecasts
  DemandBases bases_;
  ReclaimWindow window_;
  TailDependence dependence_;
  std::vector<ErrorHistogram> errors_;  // histogram of each base
  PerBase loss_ = {};                   // decayed pinball loss of each base
  std::array<Forecast, kOverlap> pending_ = {};
  int next_ = 0;               // index of the next forecast in pending_
  int64_t next_forecast_ = 0;  // step at which the next forecast is due
  int64_t step_ = 0, first_ = -1, last_ = -1, measured_ = 0;
  // Steps at which the first forecast started and the last completed forecast ended; -1: none.
  int64_t first_forecast_ = -1, last_completed_ = -1;
  double last_capacity_ = 0, available_ = std::numeric_limits<double>::quiet_NaN();
  double promised_amount_ = 0;
  int64_t promised_until_ = -1;
  bool promise_missed_ = false;  // true if a step of the current promise was missed
  double surplus_ = 0;           // number of steps that may still be missed: allowed less actual misses
  double promised_steps_ = 0, missed_steps_ = 0;
};

}  // namespace taut::brain
