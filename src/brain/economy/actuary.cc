#include "brain/economy/actuary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr double kTailShare = 0.05;  // share of steps that count as high use
constexpr double kLossDays = 14;     // half-life in days of the bases' losses
constexpr double kLossPower = 6;     // twice the loss reduces the weight of a base to 2^-6
constexpr double kLeastRisk = 0.1;   // lower bound of the calibrated risk, as a share of the risk target
constexpr int64_t kMostHorizonDays = 120;

double Nan() { return std::numeric_limits<double>::quiet_NaN(); }

absl::Status Bad(std::string_view what, double value, std::string_view allowed) {
  return absl::InvalidArgumentError(fmt::format("{} is {:g}; allowed: {}", what, value, allowed));
}

absl::Status Check(const ActuaryOptions& o) {
  const auto within = [](double v, double low, double high) { return v >= low && v <= high; };
  const auto positive = [](double v) { return v > 0 && std::isfinite(v); };
  if (!positive(o.capacity)) return Bad("the capacity", o.capacity, "above 0");
  if (o.step_s < 1 || (1800 % o.step_s != 0 && o.step_s != 3600))
    return Bad("a step in seconds", static_cast<double>(o.step_s), "a divisor of 1,800, or 3,600");
  const int64_t day = 86'400 / o.step_s;
  if (o.horizon_steps < 1 || o.horizon_steps > kMostHorizonDays * day)
    return Bad("the horizon in steps", static_cast<double>(o.horizon_steps), "1 to 120 days");
  if (!within(o.promise, 0.5, 0.99999)) return Bad("the promise", o.promise, "0.5 to 0.99999");
  if (o.reclaim_steps < 0 || o.reclaim_steps > day)
    return Bad("the reclaim latency in steps", static_cast<double>(o.reclaim_steps), "0 to one day");
  if (!positive(o.forget_days)) return Bad("forget_days", o.forget_days, "above 0");
  if (!positive(o.recover_days)) return Bad("recover_days", o.recover_days, "above 0");
  if (!within(o.most_risk, 1, 10)) return Bad("most_risk", o.most_risk, "1 to 10");
  if (!positive(o.history_days)) return Bad("history_days", o.history_days, "above 0");
  if (!within(o.least_horizons, 1, 100)) return Bad("least_horizons", o.least_horizons, "1 to 100");
  return absl::OkStatus();
}

// Returns the factor on the risk for a quantile of n independent samples. With this factor, a new sample exceeds
// the quantile with a probability of at most `ordered`, because the n + 1 samples are exchangeable. A factor of
// 0 means the highest sample.
double Correction(double ordered, double n) { return std::max(0.0, (ordered * (n + 1) - 1) / (ordered * n)); }

}  // namespace

absl::StatusOr<Actuary> Actuary::Make(const ActuaryOptions& options) {
  if (absl::Status bad = Check(options); !bad.ok()) return bad;
  return Actuary(options);
}

Actuary::Actuary(const ActuaryOptions& options)
    : options_(options),
      stride_(std::max<int64_t>(1, options.horizon_steps / kOverlap)),
      bases_(options.step_s, options.horizon_steps, options.promise),
      window_(options.reclaim_steps, options.reading),
      dependence_(options.step_s),
      last_capacity_(options.capacity) {
  const double day_samples = 86'400.0 / static_cast<double>(options.step_s);
  errors_.assign(kDemandBases, ErrorHistogram(options.capacity, options.forget_days * day_samples));
}

double Actuary::AvailableOf(double capacity, double higher_use) {
  const bool ok = std::isfinite(capacity) && capacity >= 0 && std::isfinite(higher_use) && higher_use >= 0;
  return window_.Add(ok ? capacity - higher_use : Nan());
}

void Actuary::Observe(double capacity, double higher_use) {
  available_ = AvailableOf(capacity, higher_use);
  if (!std::isnan(available_)) {
    if (first_ < 0) first_ = step_;
    last_ = step_;
    ++measured_;
    last_capacity_ = capacity;
    Compare(available_);
  }
  for (ErrorHistogram& e : errors_) e.Age(1);
  bases_.Add(std::isnan(available_) ? Nan() : capacity - available_);
  CompleteForecasts();
  ++step_;
  const double day_steps = 86'400.0 / static_cast<double>(options_.step_s);
  if (step_ < next_forecast_ || static_cast<double>(measured_) < options_.history_days * day_steps) return;
  next_forecast_ = step_ + stride_;
  MakeForecast();
}

// Compares a step with every forecast whose horizon contains the step. A loss of capacity counts as use.
void Actuary::Compare(double available) {
  double missed = 0, promises = 0;
  const Forecast* oldest = nullptr;
  for (Forecast& f : pending_) {
    if (f.end < step_) continue;
    const double demand = f.capacity - available;
    if (options_.of == PromiseOf::kTime) Learn(f, demand);
    f.highest = std::max(f.highest, demand);
    ++f.measured;
    if (oldest == nullptr || f.end < oldest->end) oldest = &f;
    if (std::isnan(f.amount)) continue;
    ++promises;
    missed += available < f.amount ? 1 : 0;
  }
  const double keep = std::exp2(-static_cast<double>(options_.step_s) / 86'400 / kLossDays);
  for (double& loss : loss_) loss *= keep;
  if (oldest != nullptr && std::isfinite(oldest->tail)) {
    // The threshold is one bin above `tail`, because values within one bin are indistinguishable.
    const double high = oldest->tail + ErrorHistogram::kBin * options_.capacity;
    dependence_.Add(step_, oldest->capacity - available > high);
  }
  if (promised_until_ >= step_) {
    promise_missed_ |= available < promised_amount_;
    if (options_.of == PromiseOf::kTime) Calibrate(available < promised_amount_ ? 1 : 0, 1);
  } else if (options_.of == PromiseOf::kTime && promises > 0) {
    Calibrate(missed / promises, 1);
  }
}

// Completes the forecasts whose horizons end with this step.
void Actuary::CompleteForecasts() {
  const bool of_horizons = options_.of == PromiseOf::kHorizon;
  if (of_horizons && promised_until_ == step_)
    Calibrate(promise_missed_ ? 1 : 0, static_cast<double>(options_.horizon_steps));
  for (const Forecast& f : pending_) {
    if (f.end != step_) continue;
    last_completed_ = step_ + 1;
    // The highest use of a horizon is unknown if less than half of the horizon was measured.
    if (!of_horizons || 2 * f.measured < options_.horizon_steps) continue;
    Learn(f, f.highest);
    if (!std::isnan(f.amount) && promised_until_ < step_)
      Calibrate(f.highest > f.capacity - f.amount ? 1 : 0, static_cast<double>(stride_));
  }
}

void Actuary::Learn(const Forecast& f, double demand) {
  for (size_t k = 0; k < kDemandBases; ++k) {
    errors_[k].Add(demand - f.base[k]);
    const double over = demand - f.bound[k];
    loss_[k] += over > 0 ? options_.promise * over : (options_.promise - 1) * over;
  }
}

void Actuary::Calibrate(double missed, double steps) {
  surplus_ += ((1 - options_.promise) - missed) * steps;
  promised_steps_ += steps;
  missed_steps_ += missed * steps;
  // A surplus above this bound is dropped, because most_risk limits the risk that a surplus can cause.
  const double recover = options_.recover_days * 86'400 / static_cast<double>(options_.step_s);
  const double risk = 1 - options_.promise;
  surplus_ = std::min(surplus_, (options_.most_risk - 1) * risk * recover);
}

double Actuary::CalibratedRisk() const {
  const double risk = 1 - options_.promise;
  const double recover = options_.recover_days * 86'400 / static_cast<double>(options_.step_s);
  return std::clamp(risk + surplus_ / recover, kLeastRisk * risk, std::min(0.5, options_.most_risk * risk));
}

Actuary::PerBase Actuary::Weights() const {
  const double least = std::max(*std::min_element(loss_.begin(), loss_.end()), 1e-12 * options_.capacity);
  PerBase weights;
  double sum = 0;
  for (size_t k = 0; k < kDemandBases; ++k) {
    weights[k] = std::pow(least / std::max(loss_[k], least), kLossPower);
    sum += weights[k];
  }
  for (double& w : weights) w /= sum;
  return weights;
}

void Actuary::MakeForecast() {
  Forecast& f = pending_[static_cast<size_t>(next_)];
  next_ = (next_ + 1) % kOverlap;
  f = Forecast();
  const Quote quote = Ask();
  f.end = step_ + options_.horizon_steps - 1;
  if (first_forecast_ < 0) first_forecast_ = step_;
  f.capacity = last_capacity_;
  bases_.Forecast(f.base);
  if (errors_[0].weight() <= 0) {
    f.bound = f.base;
    return;
  }
  const PerBase weights = Weights();
  f.tail = 0;
  for (size_t k = 0; k < kDemandBases; ++k) {
    f.bound[k] = f.base[k] + errors_[k].Quantile(1 - options_.promise);
    f.tail += weights[k] * (f.base[k] + errors_[k].Quantile(kTailShare));
  }
  if (!quote.refused()) f.amount = quote.amount;
}

void Actuary::FillEvidence(Evidence& e) const {
  e.first_step = first_;
  e.last_step = last_;
  e.measured_steps = measured_;
  const auto horizon = static_cast<double>(options_.horizon_steps);
  const bool of_horizons = options_.of == PromiseOf::kHorizon;
  // A step belongs to several overlapping forecasts, but must count only once. With kHorizon, one horizon starts
  // per stride.
  e.samples = of_horizons ? errors_[0].weight() * static_cast<double>(stride_)
                          : errors_[0].weight() / std::min<double>(kOverlap, horizon);
  e.steps_per_sample = dependence_.StepsPerSample();
  if (of_horizons) e.steps_per_sample = std::max(e.steps_per_sample, horizon);
  e.independent = e.samples / e.steps_per_sample;
  e.ordered_risk = 1 - options_.promise;
  e.needed = std::ceil(1 / e.ordered_risk - 1 - 1e-9);
  e.calibrated_risk = CalibratedRisk();
  if (last_completed_ > first_forecast_ && first_forecast_ >= 0)
    e.horizons = std::floor(static_cast<double>(last_completed_ - first_forecast_) /
                            static_cast<double>(options_.horizon_steps));
  e.promised_steps = promised_steps_;
  e.missed_steps = missed_steps_;
}

Quote Actuary::Ask(double planned_use) const {
  Quote quote;
  Evidence& e = quote.evidence;
  FillEvidence(e);
  if (e.horizons < options_.least_horizons || errors_[0].weight() <= 0) {
    quote.refusal = Refusal::kHorizonUnseen;
  } else if (bases_.MeasuredOfDay() < 0.5) {
    quote.refusal = Refusal::kUnmeasured;
  } else if (e.independent < e.needed) {
    quote.refusal = Refusal::kTooFewSamples;
  }
  if (quote.refused()) return quote;
  e.used_risk = e.calibrated_risk * Correction(e.ordered_risk, e.independent);
  PerBase base;
  bases_.Forecast(base);
  const PerBase weights = Weights();
  for (size_t k = 0; k < kDemandBases; ++k) {
    e.base += weights[k] * base[k];
    e.margin += weights[k] * errors_[k].Quantile(e.used_risk);
  }
  e.leading_base = DemandBases::NameOf(
      static_cast<size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin()));
  e.planned_use = std::max(0.0, planned_use);
  quote.amount = last_capacity_ - (e.base + e.margin + e.planned_use);
  if (quote.amount <= 0) {
    quote.amount = 0;
    quote.refusal = Refusal::kNothingLeft;
  }
  return quote;
}

void Actuary::Promised(double amount) {
  promised_amount_ = amount;
  promised_until_ = step_ + options_.horizon_steps - 1;
  promise_missed_ = false;
}

std::string Explain(const Quote& quote, const ActuaryOptions& options) {
  const Evidence& e = quote.evidence;
  const double day = 86'400.0 / static_cast<double>(options.step_s);
  const std::string history =
      fmt::format("{:.4g} days measured, days {:.4g} to {:.4g}", static_cast<double>(e.measured_steps) / day,
                  static_cast<double>(std::max<int64_t>(0, e.first_step)) / day,
                  static_cast<double>(e.last_step + 1) / day);
  const double promise = 100 * options.promise;
  switch (quote.refusal) {
    case Refusal::kHorizonUnseen:
      return fmt::format(
          "Refused: of horizons of {:.4g} days {:.0f} have been forecast and seen, {:g} needed ({}).",
          static_cast<double>(options.horizon_steps) / day, e.horizons, options.least_horizons, history);
    case Refusal::kTooFewSamples:
      return fmt::format(
          "Refused: not enough history for {:g} %: {:.0f} independent samples, {:.0f} needed ({}; {:.3g} "
          "steps are one sample).",
          promise, std::floor(e.independent), e.needed, history, e.steps_per_sample);
    case Refusal::kUnmeasured:
      return fmt::format("Refused: less than half of the last day was measured ({}).", history);
    case Refusal::kNothingLeft:
      return fmt::format(
          "Refused: nothing is left at {:g} %: the higher tiers' use is forecast as {:.6g} plus {:.6g}.",
          promise, e.base, e.margin);
    case Refusal::kNone:
      break;
  }
  return fmt::format(
      "{:.6g} for {:g} % of the {}: high use of the higher tiers is forecast as {:.6g} (mostly by {}), plus "
      "{:.6g}, which {:.3g} % of {:.0f} steps ({:.0f} independent) were above; ordered are {:.3g} %, {:.3g} "
      "% after comparing {:.0f} past steps, of which {:.0f} were missed ({}).",
      quote.amount, promise, options.of == PromiseOf::kTime ? "time" : "horizons", e.base, e.leading_base,
      e.margin, 100 * e.used_risk, e.samples, e.independent, 100 * e.ordered_risk, 100 * e.calibrated_risk,
      e.promised_steps, e.missed_steps, history);
}

}  // namespace taut::brain
