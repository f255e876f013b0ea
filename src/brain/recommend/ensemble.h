// The ensemble recommender (Autopilot's "ML" recommender, EuroSys'20 §3.2.3, equations (4)-(9)). It has many
// arg-min models, each with a decay rate and a margin; the model with the lowest recent cost sets the limit.
//
//   (4,5) o_d(L), u_d(L): decayed share of samples above / below L:
//         suffix and prefix sums of ONE histogram per rate
//   (6)   L'_d[t] = argmin_L  w_o o_d(L) + w_u u_d(L) + w_dL [L != L'_d[t-1]]
//   (7)   L_m = L'_d (1 + M_m)
//   (8)   c_m[t] = d (w_o o_m + w_u u_m + w_dL [L_m changed]) + (1-d) c_m[t-1],
//         o_m and u_m on the last window only
//   (9)   m[t] = argmin_m  c_m[t] + w_dm [m != m[t-1]] + w_dL [L_m != L[t-1]]
//         L[t] = L_m[t] of the model m[t]
//
// Interpretations of the paper (docs/references.md): signals are normalised to fractions (A7), the start is
// corrected for bias (A8), margins are relative (A10), and ties keep the model (A13). `prequential` judges a model
// on its limit from BEFORE the window (A11); `paper` scores in-sample, as printed. There are two costs: `paper`
// counts a window's samples below L, and `slack` prices the distance of these samples to L, relative to the mean
// usage (C3).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "brain/recommend/decayed_average.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"
#include "common/histogram/decay_bank.h"

namespace taut::brain {

// Parameters shared by all ensembles of one configuration. Immutable; must outlive the ensembles.
class EnsembleConfig {
 public:
  explicit EnsembleConfig(const EnsembleSettings& settings);  // REQUIRES: `settings` has 1 to 16 half-lives.

  const EnsembleSettings& settings() const { return settings_; }
  const DecayRates& rates() const { return rates_; }
  int num_rates() const { return rates_.size(); }
  int num_margins() const { return static_cast<int>(settings_.margins.size()); }
  // Model m has rate m / num_margins() and margin m % num_margins().
  int num_models() const { return num_rates() * num_margins(); }
  double score_rate() const { return score_rate_; }  // returns d of equation (8)

 private:
  EnsembleSettings settings_;
  DecayRates rates_;
  double score_rate_;
};

// The recommender of one job and resource.
class EnsembleRecommender final : public Recommender {
 public:
  // `price_factor` multiplies w_o, the cost of an overrun of this job. `config` must outlive the object.
  EnsembleRecommender(Resource resource, const EnsembleConfig& config, OomSettings oom,
                      double price_factor = 1);

  void Observe(const Signal& signal) override;
  void ObserveOom(const OomEvent& event) override;
  std::optional<double> Recommend(WindowId next) override;
  void Explain(Reason& reason) const override;
  std::unique_ptr<Recommender> Clone() const override;
  size_t state_bytes() const override;
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;

 private:
  // The arg-min of (6) for each decay rate, as buckets; kNone before the first window.
  using RateLimits = std::array<Bucket, DecayRates::kMax>;
  static constexpr Bucket kNone = 0xffff;

  void Learn(WindowId window, std::span<const BucketWeight> buckets, double mean);
  RateLimits ArgMin() const;
  void Judge(std::span<const BucketWeight> buckets, const RateLimits& judged, const RateLimits& before);
  void PickModel();
  double ModelLimit(int model) const;
  std::string ModelName(int model) const;

  Resource resource_;
  uint16_t model_ = 0;
  bool has_limit_ = false;
  double w_over_, w_limit_change_;  // overrun and limit-change weights of the resource
  const EnsembleConfig* config_;
  OomSettings oom_;
  DecayBank bank_;
  DecayedAverage usage_;  // mean usage, to which the price of slack is relative
  RateLimits rate_limit_;
  double limit_ = 0;         // the recommended limit L[t]
  double score_weight_ = 0;  // 1 - (1-d)^t: divisor that removes the scores' bias
  std::unique_ptr<float[]> scores_;
  int32_t first_window_ = 0;
  int32_t last_window_ = 0;
  uint32_t windows_seen_ = 0;
};

}  // namespace taut::brain
