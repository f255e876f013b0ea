// The actuary of one pool, tier and horizon: how much of what the higher tiers do not use can be sold, so
// that it is available for a promised share of the time.
//
// The unit is the caller's (cores, bytes, shares). Per step it takes the capacity and what the higher tiers
// use; sold capacity runs while it fits into the rest. A quote is a quantile statement, about time or about
// horizons (PromiseOf), that holds on average over quotes: of many sales, not of each.
//
// How: several bases forecast the high use of the horizon; for each, the histogram of how far the use of
// every step was above past forecasts of the same horizon gives the quantile, so that steps of one horizon,
// season and growth are in it as they happen. The bases are weighted by the pinball loss of their past
// bounds. The quantile is corrected for the number of independent samples (split conformal prediction: Vovk
// et al. 2005) and moved by what past promises lacked or had left (adaptive conformal inference: Gibbs and
// Candes 2021).
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
  kTime,     // a share `promise` of the steps has the amount available; one horizon may have less
  kHorizon,  // a share `promise` of the horizons has the amount available in each of its steps
};

struct ActuaryOptions {
  double capacity = 1;         // of the pool as planned, > 0: the scale of the histograms
  int64_t step_s = 300;        // divides half an hour, or is an hour
  int64_t horizon_steps = 12;  // [1, 120 days]
  double promise = 0.98;       // share of time or of horizons, [0.5, 0.99999]
  PromiseOf of = PromiseOf::kTime;
  int64_t reclaim_steps = 0;  // [0, one day]: see ReclaimReading
  ReclaimReading reading = ReclaimReading::kKept;
  double forget_days = 120;   // half-life of the error histograms, > 0
  double recover_days = 3;    // in which a surplus or deficit of the promise is to be evened out, > 0
  double most_risk = 2.5;     // times 1 - promise: the highest share a surplus may buy, [1, 10]
  double history_days = 1;    // before the first forecast, > 0
  double least_horizons = 1;  // disjoint ones that have been forecast and seen before one is sold, [1, 100]
};

// Why there is no quote.
enum class Refusal : uint8_t {
  kNone,
  kHorizonUnseen,  // fewer than least_horizons disjoint horizons have been forecast and seen
  kTooFewSamples,  // not enough independent samples for the promise
  kUnmeasured,     // less than half of the last day was measured
  kNothingLeft,    // the quantile is not above 0
};

// What a quote is founded on.
struct Evidence {
  int64_t first_step = 0, last_step = 0;  // of the measured steps [first, last]
  int64_t measured_steps = 0;
  double samples = 0;           // steps of completed forecasts, older ones weighing less
  double steps_per_sample = 1;  // see TailDependence
  double independent = 0;       // samples / steps_per_sample; at most the horizons for kHorizon
  double needed = 0;            // independent samples without which the quantile would be a guess
  double ordered_risk = 0;      // 1 - promise
  double calibrated_risk = 0;   // after comparing past promises with what happened
  double used_risk = 0;         // after the correction for few samples
  double promised_steps = 0, missed_steps = 0;  // of past promises
  double horizons = 0;                          // disjoint ones whose forecasts have been completed
  double base = 0;                              // forecast of high use, weighted over the bases
  double margin = 0;                            // added to it
  double planned_use = 0;                       // of the higher tiers, as asked with
  std::string_view leading_base;
};

struct Quote {
  Refusal refusal = Refusal::kNone;
  double amount = 0;  // 0 if refused
  Evidence evidence;
  bool refused() const { return refusal != Refusal::kNone; }
};

// One paragraph: the amount or the refusal and what it is founded on.
std::string Explain(const Quote& quote, const ActuaryOptions& options);

class Actuary {
 public:
  // InvalidArgument names the option, its value and what is allowed.
  static absl::StatusOr<Actuary> Make(const ActuaryOptions& options);

  // The next step. NaN: not measured; negative or infinite values count as not measured. Steps must come
  // without gaps, from a midnight of a Monday for readable evidence (the seasons need only a fixed origin).
  // No allocation. Cost: O(1); every horizon / 12 steps a forecast, O(4,000).
  void Observe(double capacity, double higher_use);

  // What can be sold for the horizon that starts with the next step, in all: amounts sold earlier for this
  // time are to be subtracted. `planned_use` >= 0: of the higher tiers in the horizon, beyond what their past
  // shows (sold to them, not in use yet, not grown into gradually).
  Quote Ask(double planned_use = 0) const;

  // That `amount` is promised from the next step for one horizon; replaces an earlier promise. Calibration
  // uses real promises where there are some, and otherwise those that it would have made. Amount >= 0.
  void Promised(double amount);
  // Capacity less higher use at the last step, after the reclaim window; NaN if not measured.
  double available() const { return available_; }
  int64_t steps() const { return step_; }
  const ActuaryOptions& options() const { return options_; }

 private:
  static constexpr int kOverlap = 12;  // forecasts that a step is compared with
  using PerBase = std::array<double, kDemandBases>;
  struct Forecast {
    int64_t end = -1;  // the last step it is about
    double capacity = 0;
    PerBase base = {}, bound = {};
    double tail = std::numeric_limits<double>::infinity();  // high use: exceeded in kTailShare of the steps
    double amount = std::numeric_limits<double>::quiet_NaN();
    double highest = -std::numeric_limits<double>::infinity();  // demand, so far
    int64_t measured = 0;                                       // steps
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
  int64_t stride_;  // steps between forecasts
  DemandBases bases_;
  ReclaimWindow window_;
  TailDependence dependence_;
  std::vector<ErrorHistogram> errors_;  // by base
  PerBase loss_ = {};                   // pinball, decayed
  std::array<Forecast, kOverlap> pending_ = {};
  int next_ = 0;               // in pending_
  int64_t next_forecast_ = 0;  // step
  int64_t step_ = 0, first_ = -1, last_ = -1, measured_ = 0;
  int64_t first_forecast_ = -1, last_completed_ = -1;  // steps: start of the first, end of the last completed
  double last_capacity_ = 0, available_ = std::numeric_limits<double>::quiet_NaN();
  double promised_amount_ = 0;
  int64_t promised_until_ = -1;
  bool promise_missed_ = false;  // in a step so far
  double surplus_ = 0;           // steps that could have been missed beyond those that were
  double promised_steps_ = 0, missed_steps_ = 0;
};

}  // namespace taut::brain
