// The statistics of the moving-window recommender (Autopilot, EuroSys'20 §3.2.2): peak, decayed average,
// load-adjusted percentile. Wrappers add margin and hold (brain/recommend/wrappers.h).
//
//   CPU:    batch S_avg; serving S_p95, or S_p90 if less latency sensitive.
//   memory: OOM tolerance low S_p98; minimal S_max; intermediate max(S_p60, S_max / 2).
//
//   (1)   w[tau] = 2^(-tau / half-life)
//         S_max[t] = highest non-empty bucket bound of the last N windows
//   (2)   S_avg[t] = sum_tau w[tau] mean[t-tau] / sum_tau w[tau]
//   (3)   h[t][k] = b[k] * sum_tau w[tau] s[t-tau][k];   S_pj[t] = percentile j of h[t]
//
// (2) has the same windows in numerator and denominator, and skips empty windows (docs/references.md, A1).
#pragma once

#include <memory>

#include "brain/recommend/decayed_average.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"
#include "common/histogram/decaying_histogram.h"
#include "common/histogram/sliding_max.h"

namespace taut::brain {

class MovingWindowRecommender final : public Recommender {
 public:
  MovingWindowRecommender(Resource resource, MovingWindowSettings settings, OomSettings oom);

  void Observe(const Signal& signal) override;
  void ObserveOom(const OomEvent& event) override;
  std::optional<double> Recommend(WindowId next) override;
  void Explain(Reason& reason) const override;
  std::unique_ptr<Recommender> Clone() const override;
  size_t state_bytes() const override;
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;

 private:
  OomTolerance tolerance() const;
  double Statistic() const;
  std::string StatisticName() const;

  Resource resource_;
  MovingWindowSettings settings_;
  OomSettings oom_;
  DecayingHistogram histogram_;
  DecayedAverage average_;  // average of the usage (CPU) or of the number of tasks (memory)
  SlidingMax peak_;
  int32_t first_window_ = 0;
  int32_t last_window_ = 0;
  uint32_t windows_seen_ = 0;
};

}  // namespace taut::brain
