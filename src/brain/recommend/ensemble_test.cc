// Tests the ensemble against equations (4) to (9) of Autopilot (EuroSys'20) §3.2.3, computed literally over all
// limits and models, and against the statements in docs/references.md.
#include "brain/recommend/ensemble.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

using Weights = std::map<Bucket, double>;

// Equations (4) to (9) as printed, in doubles: one o and u per rate and limit, one cost per model. nearest()
// returns the margin of the closest decision, because floats may decide a near tie differently.
class Literal {
 public:
  Literal(Resource r, const EnsembleSettings& s) : s_(s), grid_(GridOf(r)), bounds_(grid_.upper_bounds()) {
    for (double h : s.half_lives_s) {
      rates_.push_back({.keep = std::exp2(-300 / h)});
      rates_.back().over.resize(bounds_.size());
      rates_.back().under.resize(bounds_.size());
    }
    costs_.resize(s.half_lives_s.size() * s.margins.size());
    score_rate_ = 1 - std::exp2(-300 / s.score_half_life_s);
    longest_ = *std::max_element(s.half_lives_s.begin(), s.half_lives_s.end());
  }

  // Returns the limit after `window`.
  double Step(int32_t window, const Weights& weights) {
    const int32_t elapsed = seen_ == 0 ? 1 : window - last_window_;
    last_window_ = window;
    ++seen_;
    nearest_ = INFINITY;
    UpdateReference(elapsed, weights);
    std::vector<double> overs, unders;
    for (const double bound : bounds_) {
      overs.push_back(Over(weights, bound, total_));
      unders.push_back(Under(weights, bound, total_));
    }
    std::vector<int> before(rates_.size()), now(rates_.size());
    for (size_t d = 0; d < rates_.size(); ++d) {
      before[d] = rates_[d].limit;
      UpdateRate(rates_[d], elapsed, overs, unders);
      now[d] = rates_[d].limit;
    }
    if (before[0] >= 0 || s_.judging == EnsembleJudging::kPaper) Judge(weights, before, now);
    return Pick(now);
  }
  // Returns the smallest gap between a choice and the second best in the last step. Exact ties of models do not
  // count: models with equal pasts have bit-equal costs, and docs/references.md, A13, decides between them.
  double nearest() const { return nearest_; }

 private:
  struct Rate {
    double keep;
    std::vector<double> over{}, under{};  // o(L) and u(L) by bucket of L
    double mass = 0;
    int limit = -1;  // L' of the last step; -1 before the first step
  };

  double Over(const Weights& weights, double limit, double total) const {
    double over = 0;
    for (const auto& [b, w] : weights) over += bounds_[b] > limit ? w : 0;
    return over / total;
  }
  double Under(const Weights& weights, double limit, double total) const {
    double under = 0;
    for (const auto& [b, w] : weights) {
      if (bounds_[b] < limit) under += s_.cost == EnsembleCost::kPaper ? w : w * (limit - bounds_[b]);
    }
    return under / total;
  }
  double Reference() const { return s_.cost == EnsembleCost::kPaper ? 1 : mean_sum_ / mean_weight_; }

  void UpdateReference(int32_t elapsed, const Weights& weights) {
    double total = 0, sum = 0;
    for (const auto& [b, w] : weights) {
      total += w;
      sum += w * bounds_[b];
    }
    total_ = total;
    const double keep = std::exp2(-300.0 * elapsed / longest_);
    mean_sum_ = keep * mean_sum_ + sum / total;
    mean_weight_ = keep * mean_weight_ + 1;
  }

  // Computes (4), (5) and (6). `overs` and `unders` have one value per bucket's bound.
  void UpdateRate(Rate& rate, int32_t elapsed, const std::vector<double>& overs,
                  const std::vector<double>& unders) {
    const double fade = std::pow(rate.keep, elapsed), d = 1 - rate.keep;
    rate.mass = fade * rate.mass + d;
    double best = INFINITY, second = INFINITY;
    int chosen = -1;
    for (size_t k = 0; k < bounds_.size(); ++k) {
      rate.over[k] = fade * rate.over[k] + d * overs[k];
      rate.under[k] = fade * rate.under[k] + d * unders[k];
      // Dividing by the mass corrects the bias (docs/references.md, A8).
      double cost = (s_.w_over * rate.over[k] + s_.w_under * rate.under[k] / Reference()) / rate.mass;
      if (rate.limit >= 0 && static_cast<int>(k) != rate.limit) cost += s_.w_limit_change;
      // An exact tie of two limits counts as near: floats may select either.
      if (cost < best) {
        second = best;
        best = cost;
        chosen = static_cast<int>(k);
      } else {
        second = std::min(second, cost);
      }
    }
    nearest_ = std::min(nearest_, second - best);
    rate.limit = chosen;
  }

  // Computes (7) and (8).
  void Judge(const Weights& weights, const std::vector<int>& before, const std::vector<int>& now) {
    const bool prequential = s_.judging == EnsembleJudging::kPrequential;  // see docs/references.md, A11
    for (size_t d = 0, m = 0; d < rates_.size(); ++d) {
      for (double margin : s_.margins) {
        const double limit = bounds_[static_cast<size_t>(prequential ? before[d] : now[d])] * (1 + margin);
        const double cost = s_.w_over * Over(weights, limit, total_) +
                            s_.w_under * Under(weights, limit, total_) / Reference() +
                            (before[d] >= 0 && now[d] != before[d] ? s_.w_limit_change : 0);
        costs_[m] = score_rate_ * cost + (1 - score_rate_) * costs_[m];
        ++m;
      }
    }
    score_mass_ = score_rate_ + (1 - score_rate_) * score_mass_;
  }

  // Computes (9), with ties as in docs/references.md, A13.
  double Pick(const std::vector<int>& now) {
    double best = INFINITY, best_step = 0, best_limit = 0;
    std::vector<double> all;
    int chosen = -1;
    for (size_t d = 0, m = 0; d < rates_.size(); ++d) {
      for (double margin : s_.margins) {
        const int model = static_cast<int>(m);
        const double limit = bounds_[static_cast<size_t>(now[d])] * (1 + margin);
        double cost = score_mass_ > 0 ? costs_[m] / score_mass_ : 0;
        if (model_ >= 0 && model != model_) cost += s_.w_model_change;
        if (model_ >= 0 && limit != limit_) cost += s_.w_limit_change;
        all.push_back(cost);
        const double step = std::abs(limit - limit_);
        const bool first = cost < best;
        const bool tie = cost == best && chosen != model_ && (model == model_ || step < best_step);
        ++m;
        if (!first && !tie) continue;
        best = cost;
        best_step = step;
        best_limit = limit;
        chosen = model;
      }
    }
    for (double cost : all) {
      if (cost != best) nearest_ = std::min(nearest_, cost - best);
    }
    model_ = chosen;
    limit_ = best_limit;
    return limit_;
  }

  EnsembleSettings s_;
  const Grid& grid_;
  std::span<const double> bounds_;
  std::vector<Rate> rates_;
  std::vector<double> costs_;
  double score_rate_ = 0, score_mass_ = 0, longest_ = 0;
  double mean_sum_ = 0, mean_weight_ = 0, total_ = 0;
  double nearest_ = INFINITY;
  int model_ = -1;
  double limit_ = 0;
  int32_t last_window_ = 0, seen_ = 0;
};

// Returns the weights of a window whose usage is near `level`, spread over a few buckets.
Weights AnyWeights(Rng& rng, int level) {
  Weights w;
  const int n = 1 + static_cast<int>(rng.Below(4));
  for (int i = 0; i < n; ++i) {
    const int b = std::clamp(level + static_cast<int>(3 * rng.Normal()), 0, 320);
    w[static_cast<Bucket>(b)] += 1 + static_cast<double>(rng.Below(9));
  }
  if (rng.Below(40) == 0) w[static_cast<Bucket>(std::min(320, level + 25))] += 1;
  return w;
}

// Returns the number of windows in which both computations agree, up to the first decision that is too close for
// floats. Returns -1 for a real disagreement.
int WindowsThatAgree(const EnsembleSettings& settings, Resource resource, uint64_t seed, int windows) {
  const EnsembleConfig config(settings);
  EnsembleRecommender r(resource, config, OomSettings());
  Literal literal(resource, settings);
  Rng rng(seed);
  int level = 60 + static_cast<int>(rng.Below(200));
  int32_t w = static_cast<int32_t>(rng.Below(1000));
  for (int i = 0; i < windows; ++i) {
    if (rng.Below(50) == 0) level = std::clamp(level + static_cast<int>(8 * rng.Normal()), 40, 290);
    w += rng.Below(20) == 0 ? 1 + static_cast<int32_t>(rng.Below(300)) : 1;
    const Weights weights = AnyWeights(rng, level);
    const double expected = literal.Step(w, weights);
    // Shares are sums of floats over some tens of buckets; a bucket with a share below 1e-6 may have been dropped.
    if (literal.nearest() < 2e-4 * (settings.w_over + settings.w_under)) return i;
    r.Observe(MadeSignal(resource, w, MadeSignal::AtBuckets{weights}));
    if (r.Recommend(WindowId{w + 1}) != expected) return -1;
  }
  return windows;
}

EnsembleSettings SmallBank() {
  EnsembleSettings s;
  s.cpu_w_over.reset();  // equal prices for both resources
  s.cpu_w_limit_change.reset();
  s.half_lives_s = {1 * kHour, 6 * kHour, 48 * kHour};
  s.margins = {0, 0.05, 0.15};
  s.min_history_s = 0;
  s.score_half_life_s = 12 * kHour;
  return s;
}

RC_GTEST_PROP(Ensemble, IsEquationsFourToNine, ()) {
  EnsembleSettings s = SmallBank();
  s.cost = *rc::gen::element(EnsembleCost::kPaper, EnsembleCost::kSlack);
  s.judging = *rc::gen::element(EnsembleJudging::kPaper, EnsembleJudging::kPrequential);
  s.w_over = *rc::gen::element(0.5, 2.0, 20.0, 100.0);
  s.w_limit_change = *rc::gen::element(0.0, 0.2, 2.0);
  s.w_model_change = *rc::gen::element(0.0, 0.01, 0.1);
  const Resource resource = *rc::gen::element(Resource::kCpu, Resource::kMemory);
  const int agreed = WindowsThatAgree(s, resource, *rc::gen::arbitrary<uint64_t>(), 60);
  RC_ASSERT(agreed >= 0);
}

// The property above stops at near ties. This test ensures that both computations agree over enough windows.
TEST(Ensemble, AgreesOverThousandsOfWindows) {
  for (EnsembleCost cost : {EnsembleCost::kPaper, EnsembleCost::kSlack}) {
    for (EnsembleJudging judging : {EnsembleJudging::kPaper, EnsembleJudging::kPrequential}) {
      EnsembleSettings s = SmallBank();
      s.cost = cost;
      s.judging = judging;
      s.w_over = 20;
      s.w_limit_change = 0.5;
      int agreed = 0;
      for (uint64_t seed = 1; seed <= 60; ++seed) {
        const int n = WindowsThatAgree(s, Resource::kMemory, seed, 400);
        ASSERT_GE(n, 0) << "seed " << seed;
        agreed += n;
      }
      EXPECT_GT(agreed, 1000) << static_cast<int>(cost) << static_cast<int>(judging);
    }
  }
}

// docs/references.md, C4: o(L) and u(L), computed by their own recursions per rate and limit, equal the suffix
// and prefix sums of the bank.
RC_GTEST_PROP(DecayBankSums, AreTheRecursionsOfFourAndFive, ()) {
  const std::vector<double> half_lives = {1 * kHour, 12 * kHour, 168 * kHour};
  const DecayRates rates = DecayRates::FromHalfLives(half_lives);
  DecayBank bank(rates);
  const auto n = static_cast<size_t>(Grid::Memory().size());
  std::vector<std::vector<double>> over(3, std::vector<double>(n)), under(3, std::vector<double>(n));
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  const int windows = *rc::gen::inRange(1, 80);
  for (int t = 0; t < windows; ++t) {
    const Weights weights = AnyWeights(rng, 150);
    double total = 0;
    std::vector<BucketWeight> signal;
    for (const auto& [b, w] : weights) {
      signal.push_back({b, static_cast<float>(w)});
      total += w;
    }
    bank.Step(t == 0 ? 0 : 1, signal);
    for (size_t m = 0; m < 3; ++m) {
      const double d = 1 - std::exp2(-300 / half_lives[m]);
      for (size_t k = 0; k < n; ++k) {
        double above = 0, below = 0;
        for (const auto& [b, w] : weights) (b > k ? above : below) += b == k ? 0 : w / total;
        over[m][k] = (1 - d) * over[m][k] + d * above;
        under[m][k] = (1 - d) * under[m][k] + d * below;
      }
    }
  }
  BankShares shares;
  bank.Shares(&shares);
  for (size_t i = 0; i < shares.buckets.size(); ++i) {
    for (size_t m = 0; m < 3; ++m) {
      const double mass = bank.Mass(static_cast<int>(m));
      const size_t at = i * static_cast<size_t>(shares.stride) + m;
      RC_ASSERT(std::abs(double{shares.over[at]} * mass - over[m][shares.buckets[i]]) < 1e-5);
      RC_ASSERT(std::abs(double{shares.under[at]} * mass - under[m][shares.buckets[i]]) < 1e-5);
    }
  }
}

EnsembleSettings OneModel(double w_over) {
  EnsembleSettings s;
  s.half_lives_s = {100 * kDay};  // decay so slow that it has practically no effect in the test
  s.margins = {0};
  s.cost = EnsembleCost::kPaper;
  s.w_over = w_over;
  s.w_limit_change = 0;
  s.w_model_change = 0;
  s.min_history_s = 0;
  return s;
}

// docs/references.md, C2: a flat job with a spike of mass eps is covered if and only if rho > (1 - eps) / eps.
TEST(EnsemblePaperCost, CoversASpikeAboveItsDensityRatio) {
  for (const auto& [eps, threshold] : {std::pair{0.01, 99.0}, std::pair{0.1, 9.0}, std::pair{0.001, 999.0}}) {
    for (double nudge : {0.97, 1.03}) {
      const EnsembleConfig config(OneModel(threshold * nudge));
      EnsembleRecommender r(Resource::kMemory, config, OomSettings());
      const Weights weights = {{100, 1 - eps}, {180, eps}};
      for (int32_t w = 0; w < 50; ++w)
        r.Observe(MadeSignal(Resource::kMemory, w, MadeSignal::AtBuckets{weights}));
      EXPECT_EQ(*r.Recommend(WindowId{50}), Grid::Memory().UpperBound(nudge > 1 ? 180 : 100))
          << eps << " " << nudge;
    }
  }
}

// docs/references.md, C3: the slack cost prices the distance, so that a distant spike is not covered.
TEST(EnsembleSlackCost, WeighsTheSpikeAgainstItsDistance) {
  const double eps = 0.01, w_over = 200;
  const Grid& grid = Grid::Memory();
  for (int octaves : {1, 2}) {
    EnsembleSettings s = OneModel(w_over);
    s.cost = EnsembleCost::kSlack;
    const EnsembleConfig config(s);
    EnsembleRecommender r(Resource::kMemory, config, OomSettings());
    const auto top = static_cast<Bucket>(100 + 16 * octaves);
    const Weights weights = {{100, 1 - eps}, {top, eps}};
    for (int32_t w = 0; w < 50; ++w)
      r.Observe(MadeSignal(Resource::kMemory, w, MadeSignal::AtBuckets{weights}));
    // Covering the spike costs (1 - eps) (b_top - b) / mean; not covering it costs w_over eps.
    const double low = grid.UpperBound(100), high = grid.UpperBound(top);
    const double cover = (1 - eps) * (high - low) / ((1 - eps) * low + eps * high);
    EXPECT_EQ(*r.Recommend(WindowId{50}), cover < w_over * eps ? high : low) << octaves;
    EXPECT_EQ(cover < w_over * eps, octaves == 1) << "the test should see both sides";
  }
}

int ChangesOfAToyDay(EnsembleJudging judging) {
  EnsembleSettings s;  // docs/references.md, A11: costs count samples, and w_dL is small
  s.cost = EnsembleCost::kPaper;
  s.judging = judging;
  s.w_over = 100;
  s.w_limit_change = 0.01;
  s.w_model_change = 0.01;
  // A half-life of 150 s means d = 0.75, so that the last window has most of the weight.
  s.half_lives_s.insert(s.half_lives_s.begin(), 150);
  s.margins = {0, 0.05, 0.10, 0.15};
  s.min_history_s = 0;
  const EnsembleConfig config(s);
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  Rng rng(3);
  int changes = 0;
  std::optional<double> last;
  for (int32_t w = 0; w < 4 * kWindowsPerDay; ++w) {
    r.Observe(MadeSignal(Resource::kMemory, w, 1000 * kMiB * std::exp(0.2 * rng.Normal())));
    const std::optional<double> limit = r.Recommend(WindowId{w + 1});
    if (w >= 3 * kWindowsPerDay && limit != last) ++changes;
    last = limit;
  }
  return changes;
}

// docs/references.md, A11: with in-sample scoring, the limit of this job changes many times a day. With
// prequential scoring, the limit hardly ever changes.
TEST(EnsembleJudging, InSampleChattersPrequentialDoesNot) {
  EXPECT_GT(ChangesOfAToyDay(EnsembleJudging::kPaper), 50);
  EXPECT_LE(ChangesOfAToyDay(EnsembleJudging::kPrequential), 4);
}

// docs/references.md, A13: with a constant signal all rates agree, so the current model and its limit never
// change.
TEST(Ensemble, TiesKeepTheModel) {
  EnsembleSettings s = SmallBank();
  s.margins = {0};
  const EnsembleConfig config(s);
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  std::string name;
  for (int32_t w = 0; w < 500; ++w) {
    r.Observe(MadeSignal(Resource::kMemory, w, 1000 * kMiB));
    Reason reason;
    r.Explain(reason);
    for (const Candidate& c : reason.candidates) {
      if (!c.chosen) continue;
      if (name.empty()) name = c.name;
      ASSERT_EQ(c.name, name) << w;
    }
    ASSERT_EQ(*r.Recommend(WindowId{w + 1}), Grid::Memory().UpperBound(Grid::Memory().BucketOf(1000 * kMiB)));
  }
  EXPECT_FALSE(name.empty());
}

TEST(Ensemble, SaysNothingBeforeItsMinimumHistory) {
  const EnsembleConfig config{EnsembleSettings()};
  EnsembleRecommender r(Resource::kCpu, config, OomSettings());
  EXPECT_FALSE(r.Recommend(WindowId{0}).has_value());
  for (int32_t w = 50; w < 50 + kWindowsPerDay; ++w) {
    r.Observe(MadeSignal(Resource::kCpu, w, 1.0));
    ASSERT_EQ(r.Recommend(WindowId{w + 1}).has_value(), w + 1 == 50 + kWindowsPerDay) << w;
  }
}

// docs/references.md, C6: one sample of an OOM kill raises the limit if overruns are expensive.
TEST(Ensemble, AnOomLiftsTheLimit) {
  const EnsembleConfig config{EnsembleSettings()};
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  for (int32_t w = 0; w < 2 * kWindowsPerDay; ++w) r.Observe(MadeSignal(Resource::kMemory, w, 1000 * kMiB));
  const double before = *r.Recommend(WindowId{2 * kWindowsPerDay});
  r.ObserveOom({WindowId{2 * kWindowsPerDay}, 0, before});
  EXPECT_GE(*r.Recommend(WindowId{2 * kWindowsPerDay + 1}), 1.2 * before);
}

TEST(Ensemble, ExplainsTheModelInCharge) {
  const EnsembleConfig config(SmallBank());
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  Reason nothing;
  r.Explain(nothing);
  EXPECT_THAT(nothing.sentence, ::testing::HasSubstr("owner's limit"));
  Rng rng(5);
  for (int32_t w = 0; w < 300; ++w) {
    r.Observe(MadeSignal(Resource::kMemory, w, MadeSignal::AtBuckets{AnyWeights(rng, 150)}));
  }
  const double limit = *r.Recommend(WindowId{300});
  Reason reason;
  r.Explain(reason);
  int chosen = 0;
  for (const Candidate& c : reason.candidates) {
    if (!c.chosen) continue;
    ++chosen;
    EXPECT_EQ(c.limit, limit);
  }
  EXPECT_EQ(chosen, 1);
  ASSERT_EQ(reason.steps.size(), 2U);
  EXPECT_EQ(reason.steps[1].after, limit);
}

}  // namespace
}  // namespace taut::brain
