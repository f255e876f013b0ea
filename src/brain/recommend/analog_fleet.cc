#include "brain/recommend/analog_fleet.h"

#include <algorithm>
#include <cmath>

namespace taut::brain {
namespace {

constexpr double kJudgePrior = 10;  // OOM-days added to the promised and to the observed count
constexpr double kPriceStep = 0.1;  // share of the logarithmic distance per day; more in the first days

}  // namespace

AnalogFleet::AnalogFleet(Resource resource, const AnalogSettings& settings)
    : resource_(resource),
      settings_(settings),
      rng_(Rng(settings.seed).Fork(static_cast<uint64_t>(resource))) {}

double AnalogFleet::ordered_share() const { return settings_.order(resource_); }

void AnalogFleet::Learn(const FleetRows& rows) {
  const auto capacity = static_cast<size_t>(settings_.max_rows);
  double limits = 0;
  for (const FleetRow& row : rows) {
    limits += row.tomorrow.owner_limit >= 0 ? row.tomorrow.owner_limit : row.tomorrow.week_peak;
    if (!row.lesson.has_value()) continue;
    ++rows_seen_;
    const DistributionForest::Row sample{row.lesson->features, row.lesson->outcome};
    if (history_.size() < capacity) {
      history_.push_back(sample);
    } else if (const uint64_t at = rng_.Below(rows_seen_); at < capacity) {
      history_[at] = sample;  // reservoir sampling keeps every past row with equal probability
    }
  }
  if (!rows.empty()) mean_limit_ = limits / static_cast<double>(rows.size());
}

void AnalogFleet::Judge(const FleetRows& rows) {
  double promised = 0;
  double realised = 0;
  double judged = 0;
  for (const FleetRow& row : rows) {
    if (!row.verdict.has_value()) continue;
    judged += 1;
    promised += row.verdict->promised;
    realised += row.verdict->overrun ? 1 : 0;
  }
  double warnings = 0;
  double came_true = 0;
  for (const FleetRow& row : rows) {
    if (!row.warning_came_true.has_value()) continue;
    warnings += 1;
    came_true += *row.warning_came_true ? 1 : 0;
  }
  warnings_ = kJudgeDecay * warnings_ + warnings;
  warnings_true_ = kJudgeDecay * warnings_true_ + came_true;
  if (judged == 0) return;
  promised_ = kJudgeDecay * promised_ + promised;
  realised_ = kJudgeDecay * realised_ + realised;
  debt_ = kDebtDecay * debt_ + ordered_share() - realised / judged;
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
void AnalogFleet::MovePrice(const FleetRows& rows) {
  const double fixed = settings_.price(resource_);
  if (fixed > 0) {
    price_ = fixed;
    return;
  }
  const size_t step = std::max<size_t>(1, rows.size() / static_cast<size_t>(settings_.solver_jobs));
  std::vector<AnalogCase> priced;
  for (size_t i = 0; i < rows.size(); i += step) {
    if (!rows[i].own_order) priced.push_back(rows[i].tomorrow);
  }
  if (priced.empty()) return;
  priced_jobs_ = std::move(priced);
  const double share = ordered_share();
  const double correction = (promised_ + kJudgePrior) / (realised_ + kJudgePrior);
  const double target = correction * std::clamp(share + debt_ / kDebtDays, share / 2, 2 * share);
  const double solved = PriceFor(target);
  // The first prices are based on few days and may be far off. While 1/n exceeds the usual step, the price is
  // the geometric mean of all solutions so far.
  ++times_priced_;
  const double way = std::max(kPriceStep, 1.0 / times_priced_);
  price_ = times_priced_ == 1 ? solved : price_ * std::pow(solved / price_, way);
}

void AnalogFleet::CloseDay(int32_t day, const FleetRows& rows) {
  first_day_ = std::min(first_day_, day);
  Learn(rows);
  Judge(rows);
  const bool old_enough =
      rows_seen_ >= static_cast<uint64_t>(settings_.min_rows) && day - first_day_ + 1 >= settings_.min_days;
  if (!old_enough) return;
  const bool due =
      forest_.empty() || day - trained_day_ >= settings_.retrain_days || rows_seen_ >= 2 * rows_at_training_;
  if (due) {
    forest_.Train(history_, ForestSettings(), settings_.seed * 1'000'003 + static_cast<uint64_t>(day));
    trained_day_ = day;
    rows_at_training_ = rows_seen_;
  }
  MovePrice(rows);
}

}  // namespace taut::brain
