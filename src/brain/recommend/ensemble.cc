#include "brain/recommend/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr int kMax = DecayRates::kMax;

double DecayOfWindow(double half_life_s) {
  return 1 - std::exp2(-static_cast<double>(kWindowSeconds) / half_life_s);
}

}  // namespace

EnsembleConfig::EnsembleConfig(const EnsembleSettings& settings)
    : settings_(settings),
      rates_(DecayRates::FromHalfLives(settings.half_lives_s)),
      score_rate_(DecayOfWindow(settings.score_half_life_s)) {}

EnsembleRecommender::EnsembleRecommender(Resource resource, const EnsembleConfig& config, OomSettings oom,
                                         double price_factor)
    : resource_(resource),
      w_over_(price_factor * config.settings().w_over_of(resource)),
      w_limit_change_(config.settings().w_limit_change_of(resource)),
      config_(&config),
      oom_(oom),
      bank_(config.rates()),
      usage_(*std::max_element(config.settings().half_lives_s.begin(), config.settings().half_lives_s.end())),
      scores_(std::make_unique<float[]>(static_cast<size_t>(config.num_models()))) {
  rate_limit_.fill(kNone);
}

void EnsembleRecommender::Observe(const Signal& signal) {
  if (signal.buckets.empty()) return;
  if (windows_seen_ == 0) first_window_ = signal.window.index;
  ++windows_seen_;
  Learn(signal.window, signal.buckets, signal.mean);
}

void EnsembleRecommender::ObserveOom(const OomEvent& event) {
  // The true need is unknown but above the limit. One sample at the assumed need (docs/references.md, C6)
  // represents the need. The sample is an overrun of every model whose limit is below the sample.
  const double need = OomBump(event.limit, oom_);
  const BucketWeight sample{GridOf(resource_).BucketOf(need), 1};
  if (windows_seen_ == 0) {
    first_window_ = event.window.index;
    windows_seen_ = 1;
  }
  Learn(event.window, {&sample, 1}, need);
}

void EnsembleRecommender::Learn(WindowId window, std::span<const BucketWeight> buckets, double mean) {
  const bool prequential = config_->settings().judging == EnsembleJudging::kPrequential;
  const RateLimits before = rate_limit_;
  // An OOM kill repeats the current window: it adds a sample and no time. Time before the first window does not
  // count.
  bank_.Step(std::max(0, window.index - last_window_) * (bank_.empty() ? 0 : 1), buckets);
  last_window_ = window.index;
  usage_.Add(mean, window);
  rate_limit_ = ArgMin();
  // Before the first window, no limit was in force to be judged. The published rule judges the limit that was
  // computed from the same window.
  if (!prequential || before[0] != kNone) Judge(buckets, prequential ? before : rate_limit_, before);
  PickModel();
}

// Computes (6) for all rates at once: one ascending pass over the buckets with the rates in vector lanes.
EnsembleRecommender::RateLimits EnsembleRecommender::ArgMin() const {
  const EnsembleSettings& s = config_->settings();
  const int lanes = bank_.stride();
  const bool slack = s.cost == EnsembleCost::kSlack;
  const auto w_over = static_cast<float>(w_over_);
  const auto w_under = static_cast<float>(s.w_under);
  const auto per_unit = static_cast<float>(1 / std::max(usage_.Get(), std::numeric_limits<double>::min()));
  const Grid& grid = GridOf(resource_);
  alignas(32) float inverse[kMax];
  bank_.InverseMasses({inverse, static_cast<size_t>(lanes)});
  // Running sums over the buckets: share of mass, and share * bound / mean usage.
  alignas(32) float mass[kMax] = {};
  alignas(32) float area[kMax] = {};
  alignas(32) float best_cost[kMax];
  alignas(32) int32_t best[kMax] = {};
  // The sums at the previous limit, whose own bucket may have been dropped.
  alignas(32) int32_t kept[kMax];
  alignas(32) float kept_mass[kMax] = {};
  alignas(32) float kept_under[kMax] = {};
  for (int d = 0; d < lanes; ++d) {
    best_cost[d] = std::numeric_limits<float>::infinity();
    const Bucket last = rate_limit_[static_cast<size_t>(d)];
    kept[d] = last == kNone ? -1 : last;
  }
  bank_.ForEach([&](int, Bucket bucket, const float* row) {
    const int32_t b = bucket;
    const float bound = static_cast<float>(grid.UpperBound(bucket)) * per_unit;
    for (int d = 0; d < lanes; ++d) {
      const float share = row[d] * inverse[d];
      const float below = mass[d];
      mass[d] = below + share;
      area[d] += share * bound;
      const float under = slack ? bound * mass[d] - area[d] : below;
      const float cost = w_over * (1 - mass[d]) + w_under * under;
      best[d] = cost < best_cost[d] ? b : best[d];
      best_cost[d] = cost < best_cost[d] ? cost : best_cost[d];
      kept_mass[d] = b <= kept[d] ? mass[d] : kept_mass[d];
      // The kept limit's own bucket may be missing, so the sums are accumulated up to the limit.
      kept_under[d] = b <= kept[d] ? (slack ? area[d] : (b == kept[d] ? below : mass[d])) : kept_under[d];
    }
  });
  RateLimits result;
  result.fill(kNone);
  for (int d = 0; d < config_->num_rates(); ++d) {
    const auto i = static_cast<size_t>(d);
    result[i] = static_cast<Bucket>(best[d]);
    if (kept[d] < 0) continue;
    const auto kept_bound = static_cast<float>(grid.UpperBound(static_cast<Bucket>(kept[d]))) * per_unit;
    const float under = slack ? kept_bound * kept_mass[d] - kept_under[d] : kept_under[d];
    const float cost = w_over * (1 - kept_mass[d]) + w_under * under;
    // A change costs w_dL. If costs are equal, the previous limit is chosen.
    if (cost <= best_cost[d] + static_cast<float>(w_limit_change_)) result[i] = static_cast<Bucket>(kept[d]);
  }
  return result;
}

// Computes (8) for all models on the last window's samples. `judged` are the arg-mins to be scored.
void EnsembleRecommender::Judge(std::span<const BucketWeight> buckets, const RateLimits& judged,
                                const RateLimits& before) {
  const EnsembleSettings& s = config_->settings();
  const Grid& grid = GridOf(resource_);
  const auto rate = static_cast<float>(config_->score_rate());
  const auto keep = 1 - rate;
  const double reference = std::max(usage_.Get(), std::numeric_limits<double>::min());
  double weight = 0;
  for (const BucketWeight& b : buckets) weight += b.weight;
  const double per_weight = weight > 0 ? 1 / weight : 0;
  int model = 0;
  for (int d = 0; d < config_->num_rates(); ++d) {
    const auto i = static_cast<size_t>(d);
    const double raw = grid.UpperBound(judged[i]);
    const bool changed = before[i] != kNone && rate_limit_[i] != before[i];
    const double change = changed ? w_limit_change_ : 0;
    for (double margin : s.margins) {
      const double limit = raw * (1 + margin);
      double over = 0;
      double under = 0;
      for (const BucketWeight& b : buckets) {
        const double bound = grid.UpperBound(b.bucket);
        if (bound > limit) {
          over += b.weight;
        } else if (bound < limit) {
          under += s.cost == EnsembleCost::kSlack ? b.weight * (limit - bound) / reference : b.weight;
        }
      }
      const double cost = (w_over_ * over + s.w_under * under) * per_weight + change;
      float& score = scores_[static_cast<size_t>(model++)];
      score = rate * static_cast<float>(cost) + keep * score;
    }
  }
  score_weight_ = rate + keep * score_weight_;
}

double EnsembleRecommender::ModelLimit(int model) const {
  const int margins = config_->num_margins();
  const Bucket raw = rate_limit_[static_cast<size_t>(model / margins)];
  return GridOf(resource_).UpperBound(raw) *
         (1 + config_->settings().margins[static_cast<size_t>(model % margins)]);
}

// Computes (9). With equal costs the current model is chosen, then the model with the smaller change of the limit,
// then the lower number (docs/references.md, A13).
void EnsembleRecommender::PickModel() {
  const EnsembleSettings& s = config_->settings();
  const double unbias = score_weight_ > 0 ? 1 / score_weight_ : 0;
  double best_cost = std::numeric_limits<double>::infinity();
  double best_step = 0;
  int best = 0;
  double best_limit = 0;
  const int margins = config_->num_margins();
  for (int d = 0, model = 0; d < config_->num_rates(); ++d) {
    const double raw = GridOf(resource_).UpperBound(rate_limit_[static_cast<size_t>(d)]);
    for (int m = 0; m < margins; ++m, ++model) {
      const double limit = raw * (1 + s.margins[static_cast<size_t>(m)]);
      double cost = scores_[static_cast<size_t>(model)] * unbias;
      if (has_limit_ && model != model_) cost += s.w_model_change;
      if (has_limit_ && limit != limit_) cost += w_limit_change_;
      const double step = std::abs(limit - limit_);
      const bool better =
          cost < best_cost || (cost == best_cost && best != model_ && (model == model_ || step < best_step));
      if (!better) continue;
      best_cost = cost;
      best_step = step;
      best = model;
      best_limit = limit;
    }
  }
  model_ = static_cast<uint16_t>(best);
  limit_ = best_limit;
  has_limit_ = true;
}

std::optional<double> EnsembleRecommender::Recommend(WindowId next) {
  const double age_s = static_cast<double>(next.index - first_window_) * kWindowSeconds;
  if (!has_limit_ || age_s < config_->settings().min_history_s) return std::nullopt;
  return limit_;
}

std::string EnsembleRecommender::ModelName(int model) const {
  const EnsembleSettings& s = config_->settings();
  const auto rate = static_cast<size_t>(model / config_->num_margins());
  const auto margin = static_cast<size_t>(model % config_->num_margins());
  return fmt::format("half-life {:g} h, margin {:g} %", s.half_lives_s[rate] / kHour,
                     100 * s.margins[margin]);
}

void EnsembleRecommender::Explain(Reason& reason) const {
  const EnsembleSettings& s = config_->settings();
  reason.recommender = "ensemble";
  reason.facts.push_back({"windows seen", static_cast<double>(windows_seen_), ""});
  reason.facts.push_back({"models", static_cast<double>(config_->num_models()), ""});
  if (!has_limit_) {
    reason.sentence = "No usage has been seen yet, so the owner's limit stays.";
    return;
  }
  const double unbias = score_weight_ > 0 ? 1 / score_weight_ : 0;
  std::vector<int> order(static_cast<size_t>(config_->num_models()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  const auto score = [&](int m) { return double{scores_[static_cast<size_t>(m)]} * unbias; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return score(a) < score(b); });
  constexpr size_t kShown = 8;
  for (size_t i = 0; i < order.size(); ++i) {
    const int m = order[i];
    if (i >= kShown && m != model_) continue;
    reason.candidates.push_back({ModelName(m), ModelLimit(m), score(m),
                                 "mean cost a window of overruns, slack and changes", m == model_});
  }
  reason.facts.push_back({"mean usage", usage_.Get(), std::string(UnitName(resource_))});
  const char* judged = s.judging == EnsembleJudging::kPrequential
                           ? "the limit it had in force before each window"
                           : "the limit it chose with each window, as published";
  if (order.front() == model_) {
    reason.sentence =
        fmt::format("Of {} models the one with a {} has cost least lately ({:.3g} a window, judged on {}).",
                    config_->num_models(), ModelName(model_), score(model_), judged);
  } else {
    reason.sentence = fmt::format(
        "Of {} models the one with a {} stays in charge: the best other has cost {:.3g} a window less lately "
        "(judged on {}), and changing over is priced at up to {:.3g}.",
        config_->num_models(), ModelName(model_), score(model_) - score(order.front()), judged,
        w_limit_change_ + s.w_model_change);
  }
  const double raw =
      GridOf(resource_).UpperBound(rate_limit_[static_cast<size_t>(model_ / config_->num_margins())]);
  reason.why = fmt::format("the model with a {} has cost least lately; mean usage is {}", ModelName(model_),
                           FormatAmount(resource_, usage_.Get()));
  reason.steps.push_back({"least-cost limit of the model", 0, raw});
  reason.steps.push_back({"the model's margin", raw, limit_});
}

std::unique_ptr<Recommender> EnsembleRecommender::Clone() const {
  auto copy = std::make_unique<EnsembleRecommender>(resource_, *config_, oom_);
  copy->w_over_ = w_over_;
  copy->model_ = model_;
  copy->has_limit_ = has_limit_;
  copy->bank_ = bank_;
  copy->usage_ = usage_;
  copy->rate_limit_ = rate_limit_;
  copy->limit_ = limit_;
  copy->score_weight_ = score_weight_;
  std::copy_n(scores_.get(), config_->num_models(), copy->scores_.get());
  copy->first_window_ = first_window_;
  copy->last_window_ = last_window_;
  copy->windows_seen_ = windows_seen_;
  return copy;
}

size_t EnsembleRecommender::state_bytes() const {
  return sizeof(*this) - sizeof(bank_) + bank_.state_bytes() +
         sizeof(float) * static_cast<size_t>(config_->num_models());
}

void EnsembleRecommender::Save(ByteWriter& out) const {
  bank_.Save(out);
  usage_.Save(out);
  out.Put<uint8_t>(has_limit_ ? 1 : 0);
  out.Put(model_);
  for (int d = 0; d < config_->num_rates(); ++d) out.Put(rate_limit_[static_cast<size_t>(d)]);
  out.Put(limit_);
  out.Put(score_weight_);
  for (int m = 0; m < config_->num_models(); ++m) out.Put(scores_[static_cast<size_t>(m)]);
  out.Put(first_window_);
  out.Put(last_window_);
  out.Put(windows_seen_);
}

absl::Status EnsembleRecommender::Load(ByteReader& in) {
  if (absl::Status s = bank_.Load(in); !s.ok()) return s;
  usage_.Load(in);
  has_limit_ = in.Get<uint8_t>() != 0;
  model_ = in.Get<uint16_t>();
  bool possible = model_ < config_->num_models() && usage_.IsPossible() &&
                  (bank_.empty() || bank_.Highest() < GridOf(resource_).size());
  for (int d = 0; d < config_->num_rates(); ++d) {
    Bucket& b = rate_limit_[static_cast<size_t>(d)];
    b = in.Get<Bucket>();
    possible = possible && (b < GridOf(resource_).size() || (b == kNone && !has_limit_));
  }
  limit_ = in.Get<double>();
  score_weight_ = in.Get<double>();
  for (int m = 0; m < config_->num_models(); ++m) {
    const auto score = in.Get<float>();
    possible = possible && IsStoredAmount(score);
    scores_[static_cast<size_t>(m)] = score;
  }
  first_window_ = in.Get<int32_t>();
  last_window_ = in.Get<int32_t>();
  windows_seen_ = in.Get<uint32_t>();
  if (absl::Status s = in.status("ensemble"); !s.ok()) return s;
  possible = possible && IsStoredAmount(limit_) && IsStoredAmount(score_weight_) &&
             IsStoredWindow(first_window_) && IsStoredWindow(last_window_);
  if (!possible) return absl::DataLossError("ensemble: a model, limit or score that there cannot be");
  return absl::OkStatus();
}

}  // namespace taut::brain
