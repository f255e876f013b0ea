#include "brain/recommend/analog_fleet.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace taut::brain {
namespace {

constexpr double kPriceStep = 0.1;  // share of the logarithmic distance per day; more in the first days

}  // namespace

double MovedPrice(double price, double solved, int times) {
  const double way = std::max(kPriceStep, 1.0 / times);
  return times == 1 ? solved : price * std::pow(solved / price, way);
}

AnalogFleet::AnalogFleet(Resource resource, const AnalogSettings& settings)
    : resource_(resource), settings_(settings), history_(static_cast<size_t>(settings.max_rows)) {}

double AnalogFleet::ordered_share() const { return settings_.order(resource_); }

void AnalogFleet::Learn(const AnalogShare& share) {
  rows_seen_ += share.lessons;
  history_.Merge(share.sample);
  if (share.jobs > 0) mean_limit_ = share.limits.value() / static_cast<double>(share.jobs);
}

void AnalogFleet::Judge(const AnalogShare& share) {
  warnings_ = kJudgeDecay * warnings_ + static_cast<double>(share.warnings);
  warnings_true_ = kJudgeDecay * warnings_true_ + static_cast<double>(share.warnings_true);
  if (share.verdicts == 0) return;
  const auto realised = static_cast<double>(share.overruns);
  promised_ = kJudgeDecay * promised_ + share.promised.value();
  realised_ = kJudgeDecay * realised_ + realised;
  debt_ = kDebtDecay * debt_ + ordered_share() - realised / static_cast<double>(share.verdicts);
}

AnalogCdf AnalogFleet::Forecast(const AnalogCase& job) const {
  float shares[AnalogGrid::kBins];
  forest_.Predict(job.features, shares);
  return MixForecast(shares, job.own, settings_.fleet_weight);
}

double AnalogFleet::PriceFor(double share) const {
  std::vector<AnalogCdf> cdfs;
  for (const AnalogCase& job : priced_jobs_) cdfs.push_back(Forecast(job));
  return SolvePrice(cdfs, priced_jobs_, resource_, share, settings_);
}

AnalogFleet AnalogFleet::ForecasterFor(double share) const {
  AnalogSettings settings = settings_;
  settings.order(resource_) = share;
  AnalogFleet copy(resource_, settings);
  copy.forest_ = forest_;
  copy.price_ = price_;
  copy.mean_limit_ = mean_limit_;
  copy.warnings_ = warnings_;
  copy.warnings_true_ = warnings_true_;
  if (share == ordered_share() || priced_jobs_.empty() || !ready()) return copy;
  // The current price includes a factor that corrects for past promises: apply this factor to the new price.
  const double solved = PriceFor(ordered_share());
  copy.priced_jobs_ = priced_jobs_;
  if (solved > 0) copy.price_ = copy.PriceFor(share) * price_ / solved;
  copy.priced_jobs_.clear();
  return copy;
}

// Sets tomorrow's price. At this price, the mean chance of an OOM-day over the jobs in their current state is the
// target share, corrected by the outcome of past promises.
void AnalogFleet::MovePrice(AnalogShare& share) {
  const double fixed = settings_.price(resource_);
  if (fixed > 0) {
    price_ = fixed;
    return;
  }
  if (share.panel.size() == 0) return;
  priced_jobs_.clear();
  for (const auto& [key, job] : share.panel.Sort()) priced_jobs_.push_back(job);
  const double ordered = ordered_share();
  const double correction = (promised_ + kJudgePrior) / (realised_ + kJudgePrior);
  const double target = correction * WantedShare(ordered, debt_);
  const double solved = PriceFor(target);
  price_ = MovedPrice(price_, solved, ++times_priced_);
}

void AnalogFleet::CloseDay(int32_t day, const FleetRows& rows) {
  AnalogShare share(day, settings_);
  for (const FleetRow& row : rows) share.Add(row);
  CloseDay(std::move(share));
}

void AnalogFleet::CloseDay(AnalogShare share) {
  const int32_t day = share.day;
  first_day_ = std::min(first_day_, day);
  Learn(share);
  Judge(share);
  const bool old_enough =
      rows_seen_ >= static_cast<uint64_t>(settings_.min_rows) && day - first_day_ + 1 >= settings_.min_days;
  if (!old_enough) return;
  const bool due =
      forest_.empty() || day - trained_day_ >= settings_.retrain_days || rows_seen_ >= 2 * rows_at_training_;
  if (due) {
    std::vector<DistributionForest::Row> rows;
    for (const auto& [key, row] : history_.Sort()) rows.push_back(row);
    forest_.Train(rows, ForestSettings(), settings_.seed * 1'000'003 + static_cast<uint64_t>(day));
    trained_day_ = day;
    rows_at_training_ = rows_seen_;
  }
  MovePrice(share);
}

}  // namespace taut::brain
