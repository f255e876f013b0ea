// Explains recommendations of the boosted recommender.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "brain/recommend/boosted.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr size_t kExplainedFeatures = 5;

std::string WhyNotReady(const BoostedFleet& fleet) {
  const BoostedSettings& s = fleet.settings();
  if (fleet.ready()) return "This job is too young to forecast";
  if (!fleet.training_status().ok())
    return fmt::format("The forecast could not be trained ({})",
                       std::string(fleet.training_status().message()));
  return fmt::format(
      "The fleet is too young to forecast from: it has {} of the {} periods and needs {} days of history",
      fleet.lessons_seen(), s.min_lessons, s.min_days);
}

}  // namespace

void BoostedRecommender::Explain(Reason& reason) const {
  if (limit_ < 0) {
    if (fallback_ != nullptr) fallback_->Explain(reason);
    reason.recommender = "boosted";
    reason.sentence = fallback_ != nullptr && !reason.sentence.empty()
                          ? WhyNotReady(*fleet_) + "; its stand-in says: " + reason.sentence
                          : "Nothing is known of the job or the fleet yet, so the owner's limit stays.";
    return;
  }
  const Resource resource = fleet_->resource();
  const bool throttles = ThrottlesAtLimit(resource);
  const std::string unit(UnitName(resource));
  reason.recommender = "boosted";
  const double limit = reason.limit.value_or(limit_);
  reason.limit = limit;
  if (!reason.chance.has_value() && !throttles) reason.SetRisk(RiskOf(limit));
  const BoostedForecast forecast = fleet_->Forecast(decision_.input);
  const double harm = forecast.HarmOf(limit);
  const int hours = period_hours();
  const std::string span = hours == 1 ? "hour" : fmt::format("{} hours", hours);
  const std::string risk = throttles
                               ? fmt::format("{:.2g} % of a mean hour's work is above it",
                                             decision_.input.use > 0 ? 100 * harm / decision_.input.use : 0)
                               : fmt::format("the chance of usage above it is {}", FormatChance(harm));
  reason.sentence = fmt::format("Forecast for the {} after the last decision: {}.", span, risk);
  reason.facts.push_back({"highest peak of the last 7 days", decision_.input.week_peak, unit});
  reason.facts.push_back({"hours between decisions", static_cast<double>(hours), "h"});
  if (throttles) {
    reason.facts.push_back({"work above the limits, target over all jobs", 100 * fleet_->order(), "%"});
  } else {
    reason.facts.push_back({"OOM-days, target over all jobs", 100 * fleet_->order(), "%"});
    reason.facts.push_back({"highest chance allowed in one period", 100 * fleet_->most_harm(), "%"});
  }
  if (job_.order.has_value()) reason.facts.push_back({"target of this job", 100 * *job_.order, "%"});
  reason.facts.push_back({"price of harm", fleet_->price(), throttles ? "" : unit});
  reason.facts.push_back({"periods behind the forecast", static_cast<double>(fleet_->lessons_seen()), ""});
  ExplainDecision(reason, limit);
}

// Adds the features that move the forecast most, the compared limits and the steps. The effect of a feature is the
// change of the harm at the limit if the feature were missing.
void BoostedRecommender::ExplainDecision(Reason& reason, double limit) const {
  const Resource resource = fleet_->resource();
  const BoostedCase& job = decision_.input;
  const BoostedForecast forecast = fleet_->Forecast(job);
  const double harm = forecast.HarmOf(limit);
  std::array<double, kBoostedFeatures> effects{};
  for (size_t f = 0; f < kBoostedFeatures; ++f) {
    BoostedCase without = job;
    without.features[f] = std::numeric_limits<float>::quiet_NaN();
    effects[f] = harm - fleet_->Forecast(without).HarmOf(limit);
  }
  std::array<size_t, kBoostedFeatures> order{};
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return std::abs(effects[a]) > std::abs(effects[b]); });
  const double unit =
      ThrottlesAtLimit(resource) ? (decision_.input.use > 0 ? 1 / decision_.input.use : 0) : 1;
  for (size_t i = 0; i < kExplainedFeatures; ++i) {
    const size_t f = order[i];
    if (std::abs(effects[f] * unit) < 1e-6) break;
    reason.facts.push_back({StrCat("effect of: ", BoostedFeatureNames()[f]), 100 * unit * effects[f], "%"});
  }
  const double weight = OwnWeight();
  reason.cost_unit = UnitName(resource);
  const std::string detail = "limit + price x harm";
  reason.candidates.push_back(
      {"best limit", decision_.best.limit, decision_.best.cost, detail, move_ != Move::kKept});
  if (move_ == Move::kKept)
    reason.candidates.push_back(
        {"the limit before, kept", limit_, limit_ + weight * decision_.harm, detail, true});
  switch (move_) {
    case Move::kNone:
    case Move::kFirst:
      reason.steps.push_back({"least cost", 0, limit_});
      break;
    case Move::kKept:
      reason.steps.push_back({"kept: its regret is below the price of a change", 0, limit_, "kept"});
      reason.why = "keeping the limit costs less than a change";
      break;
    case Move::kFall:
    case Move::kRise:
      reason.steps.push_back({"least cost", move_from_, limit_});
      reason.why = move_ == Move::kFall ? "the higher limit had cost more than a change"
                                        : "the forecast for the next hours is higher";
      break;
    case Move::kHarmBound:
      reason.steps.push_back({"highest chance allowed", move_from_, limit_, "most_chance"});
      reason.why = "the chance of an overrun was above the bound for one job";
      break;
    case Move::kWarning:
      reason.steps.push_back({"usage came close to the limit", move_from_, limit_, "raise"});
      reason.why = "usage came close to the limit";
      break;
    case Move::kOverrun:
      reason.steps.push_back({"usage was above the limit", move_from_, limit_, "raise"});
      reason.why = "usage was above the limit";
      break;
  }
}

}  // namespace taut::brain
