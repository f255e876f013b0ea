#include "brain/recommend/boosted_fleet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "brain/recommend/analog_fleet.h"
#include "common/boosting/train_forest.h"

namespace taut::brain {
namespace {

constexpr double kPriorDays = 7;  // days at the target share, likewise for work
// Assumed ratio of the panel's to the delivered work above the limits: a raise after an overrun averts most of it.
constexpr double kPanelOfWork = 10;
constexpr double kMostCorrection = 64;  // of the target share, either way
constexpr double kGrownBy = 1.25;       // growth of the lessons after which a new forest is due

// Distribution of a training threshold: mostly near the week's peak, where limits are.
struct ThresholdRange {
  double near_share, near_low, near_high, far_low, far_high;
};
constexpr ThresholdRange kOfPeaks{0.8, -0.8, 1.0, -2.5, 3.0}, kOfWork{0.75, -1.5, 0.6, -5.0, 2.0};

// Returns the n-th number in [0, 1) of a key.
double UniformOf(uint64_t key, uint64_t n) {
  return static_cast<double>(MixBits(key ^ MixBits(n)) >> 11U) * 0x1p-53;
}

}  // namespace

BoostedFleet::BoostedFleet(Resource resource, const BoostedSettings& settings, BoostedTarget target)
    : resource_(resource),
      settings_(settings),
      target_(target),
      sample_(static_cast<size_t>(settings.max_lessons)) {}

double BoostedFleet::most_harm() const {
  if (ThrottlesAtLimit(resource_)) return std::numeric_limits<double>::infinity();
  return target_.most_day_chance / settings_.periods_per_day(resource_);
}

absl::StatusOr<BoostedForest> BoostedTraining::Train() {
  const ThresholdRange& range = ThrottlesAtLimit(resource) ? kOfWork : kOfPeaks;
  BoostingRows rows;
  rows.features = kBoostedFeatures;
  const std::vector<BottomK<BoostedLesson>::Entry>& entries = sample.Sort();
  const auto draws = static_cast<uint64_t>(settings.thresholds_per_lesson);
  rows.cells.reserve(entries.size() * draws * (kBoostedFeatures + 1));
  for (const auto& [key, lesson] : entries) {
    for (uint64_t draw = 0; draw < draws; ++draw) {
      const bool near = UniformOf(key, 2 * draw) < range.near_share;
      const double low = near ? range.near_low : range.far_low,
                   high = near ? range.near_high : range.far_high;
      const auto x = static_cast<float>(low + (high - low) * UniformOf(key, 2 * draw + 1));
      rows.cells.insert(rows.cells.end(), lesson.features.begin(), lesson.features.end());
      rows.cells.push_back(x);
      const auto outcomes = std::span(lesson.outcomes).first(lesson.size);
      const auto above = std::ranges::count_if(outcomes, [x](float y) { return y > x; });
      rows.shares.push_back(static_cast<float>(above) / static_cast<float>(lesson.size));
    }
  }
  BoostingSettings boosting;
  boosting.trees = settings.trees;
  return TrainForest(rows, BoostedGrid(resource), boosting, settings.seed + static_cast<uint64_t>(day));
}

std::optional<BoostedTraining> BoostedFleet::DueTraining() const {
  if (!due_ || trained_.has_value()) return std::nullopt;
  return BoostedTraining{resource_, settings_, trained_day_, sample_};
}

void BoostedFleet::Adopt(int32_t day, absl::StatusOr<BoostedForest> forest) {
  if (due_ && day == trained_day_) trained_ = std::move(forest);
}

// Puts the forest in force that was due at the end of the day before.
void BoostedFleet::TakeForest() {
  if (!due_) return;
  if (!trained_.has_value()) trained_ = DueTraining()->Train();
  training_status_ = trained_->status();
  if (trained_->ok()) forest_ = *std::move(*trained_);
  trained_.reset();
  due_ = false;
}

double BoostedFleet::Prior() const {
  if (!ThrottlesAtLimit(resource_)) return kJudgePrior;
  return kPriorDays * order() * weight_ *
         (1 - kJudgeDecay);  // the weight of a day is about this share of the sum
}

double BoostedFleet::realised_ratio() const {
  const double prior = Prior();
  return prior > 0 ? (realised_ + prior) / (promised_ + prior) : 1;
}

// The panel's harm differs from the delivered harm: limits stay for a while, hours of a day differ, and forecasts
// err. The ratio of both in the past corrects the panel's harm.
double BoostedFleet::PanelHarmFor(double order) const {
  const double prior = Prior();
  const double assumed = ThrottlesAtLimit(resource_) ? kPanelOfWork : 1;
  const double ratio = prior > 0 ? (planned_ + assumed * prior) / (realised_ + prior) : assumed;
  const double share = WantedShare(order, debt_) * std::clamp(ratio, 1 / kMostCorrection, kMostCorrection);
  return ThrottlesAtLimit(resource_) ? share : share / settings_.periods_per_day(resource_);
}

void BoostedFleet::Judge(const BoostedShare& share) {
  if (share.verdicts == 0) return;
  const double realised = share.harm.value(), weight = share.weight.value();
  const double planned =
      panel_harm_ * (ThrottlesAtLimit(resource_) ? 1 : settings_.periods_per_day(resource_));
  promised_ = kJudgeDecay * promised_ + share.promised.value();
  planned_ = kJudgeDecay * planned_ + planned * weight;
  realised_ = kJudgeDecay * realised_ + realised;
  weight_ = kJudgeDecay * weight_ + weight;
  if (weight > 0) debt_ = kDebtDecay * debt_ + order() - realised / weight;
}

BoostedForecast BoostedFleet::Forecast(const BoostedCase& job) const {
  std::array<float, kBoostedPoints> chances;  // NOLINT(*-member-init)
  forest_.Evaluate(job.features, chances);
  return {chances, job, resource_};
}

BoostedPanel BoostedFleet::PanelOf(double most_harm) const {
  std::vector<BoostedForecast> forecasts;
  for (const BoostedCase& job : priced_jobs_) forecasts.push_back(Forecast(job));
  return {priced_jobs_, std::move(forecasts), resource_, most_harm};
}

void BoostedFleet::MovePrice(BoostedShare& share) {
  if (forest_.empty() || share.panel.size() == 0) return;
  priced_jobs_.clear();
  for (const auto& [key, job] : share.panel.Sort()) priced_jobs_.push_back(job);
  const BoostedPanel panel = PanelOf(most_harm());
  const double solved = panel.PriceFor(PanelHarmFor(order()));
  price_ = MovedPrice(price_, solved, ++times_priced_);
  panel_harm_ = panel.HarmAt(price_);
}

void BoostedFleet::CloseDay(BoostedShare share) {
  const int32_t day = share.day;
  first_day_ = std::min(first_day_, day);
  TakeForest();
  lessons_seen_ += share.lessons;
  sample_.Merge(share.sample);
  if (share.jobs > 0) mean_limit_ = share.sizes.value() / static_cast<double>(share.jobs);
  Judge(share);
  MovePrice(share);
  const bool old_enough = lessons_seen_ >= static_cast<uint64_t>(settings_.min_lessons) &&
                          day - first_day_ + 1 >= settings_.min_days;
  if (!old_enough) return;
  const auto grown = static_cast<uint64_t>(kGrownBy * static_cast<double>(lessons_at_training_));
  due_ = trained_day_ == INT32_MIN || lessons_seen_ >= grown || day - trained_day_ >= settings_.retrain_days;
  if (!due_) return;
  trained_day_ = day;
  lessons_at_training_ = lessons_seen_;
}

BoostedFleet BoostedFleet::ForecasterFor(BoostedTarget target) const {
  BoostedFleet copy(resource_, settings_, target);
  copy.forest_ = forest_;
  copy.price_ = price_;
  copy.mean_limit_ = mean_limit_;
  for (const auto sum : {&BoostedFleet::promised_, &BoostedFleet::realised_, &BoostedFleet::weight_})
    copy.*sum = this->*sum;
  if (target == target_ || priced_jobs_.empty() || !ready()) return copy;
  const auto solved = [&](const BoostedFleet& fleet) {
    return PanelOf(fleet.most_harm()).PriceFor(PanelHarmFor(fleet.order()));
  };
  copy.price_ = solved(copy) * price_ / solved(*this);
  return copy;
}

}  // namespace taut::brain
