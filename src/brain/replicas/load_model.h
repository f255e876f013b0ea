// Forecasts the load of one job some steps ahead as a distribution. A regression on the recent level, the recent
// trend and the loads of earlier days at that time of day yields the centre. The regression's past errors yield
// the spread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "brain/replicas/stored_values.h"
#include "common/base/bytes.h"

namespace taut::brain {

inline constexpr int kErrorBins = 96;

// The distribution of the load at a future step, in tasks at 100 % utilisation. The object refers to its model and
// is valid until the model's next Observe.
struct LoadForecast {
  double centre = 0;  // centre of log(load + kLogOffset)
  double spread = 1;
  const std::array<float, kErrorBins>* above = nullptr;  // P(error / spread > lower edge of the bin), by bin

  // Returns the median load in tasks.
  double Median() const;
  // Returns P(load > tasks).
  double ChanceAbove(double tasks) const;
  // Returns the load that is exceeded with probability `chance`, 0 < chance < 1. Inverts ChanceAbove up to
  // rounding.
  double WithChanceAbove(double chance) const;
};

// Recursive least squares with forgetting.
template <int N>
class OnlineRegression {
 public:
  OnlineRegression(double prior_variance, double memory_steps);
  double Predict(const std::array<double, N>& x) const;
  // Updates the weights; `error` is the observed value minus Predict(x). O(N^2).
  void Learn(const std::array<double, N>& x, double error);
  void SetWeight(size_t i, double w) { w_[i] = w; }
  void Save(ByteWriter& out) const;
  void Load(StoredValues& in);

 private:
  std::array<double, N> w_{};
  std::array<double, N * N> p_{};
  void Reset();

  double forget_;
  double most_variance_;
};

// The model of one job: one regression for the next step and one for steps_ahead. Not thread-safe.
class LoadModel {
 public:
  LoadModel(int slots_per_day, int steps_ahead);

  // Adds the load of step `step`, in tasks. Steps must ascend; a skipped step was not measured. The time of day
  // is step mod slots_per_day().
  void Observe(int64_t step, double load);
  // Returns the forecast made at the last step, for steps_ahead() if `far`, else for one step ahead.
  LoadForecast At(bool far) const {
    const Head& head = heads_[far ? 1 : 0];
    return {head.centre, head.spread, &head.errors[head.regime].above};
  }
  int64_t observed() const { return observed_; }
  int slots_per_day() const { return slots_; }
  int steps_ahead() const { return heads_[1].ahead; }
  void Save(ByteWriter& out) const;
  // Restores a model with equal slots and steps_ahead. If `in` fails, the object must not be used.
  void Load(StoredValues& in);
  size_t state_bytes() const;

 private:
  static constexpr int kFeatures = 13;
  static constexpr int kScaleFeatures = 6;
  static constexpr size_t kRegimes = 3;
  using Features = std::array<double, kFeatures>;
  using ScaleFeatures = std::array<double, kScaleFeatures>;
  struct Pending {
    int64_t step = -1;  // step for which the forecast was made
    Features x{};
    ScaleFeatures s{};
    double base = 0, predicted = 0, spread = 0;
    size_t regime = 0;
  };
  // The forecast for one distance ahead.
  struct Head {
    explicit Head(int ahead_steps, int slots);
    Pending& PendingFor(int64_t step);
    void Save(ByteWriter& out) const;
    void Load(StoredValues& in);

    int ahead;
    OnlineRegression<kFeatures> mean;
    OnlineRegression<kScaleFeatures> scale;
    std::vector<Pending> pending;
    struct Errors {
      std::array<float, kErrorBins> counts{};  // decayed counts of error / spread
      std::array<float, kErrorBins> above{};
    };
    std::array<Errors, kRegimes> errors;  // errors by regime: the spread relative to its long-term mean
    std::vector<float> size_profile;      // mean absolute error by time of day
    double short_size = 0.1, mid_size = 0.1, long_size = 0.1, last_size = 0.1;
    double centre = 0, spread = 1;
    size_t regime = 0;
  };
  void Learn(Head& head, int64_t step, double x);
  void Forecast(Head& head, int64_t step);
  Features FeaturesAt(int64_t step, int64_t then) const;
  ScaleFeatures SizesAt(const Head& head, int64_t then) const;
  double Smooth(const std::vector<float>& profile, int64_t slot, int reach) const;
  size_t Slot(int64_t step) const;
  size_t WeekSlot(int64_t step) const;
  // Returns the mean of x one week before the future step `then` and its next steps; nullopt if any of these
  // values is unknown.
  std::optional<double> WeekAt(int64_t then) const;

  int slots_;
  int64_t observed_ = 0;
  std::array<double, 2> recent_{};  // x = log(load + offset) of the last two steps
  double mean5_ = 0, mean15_ = 0, mean60_ = 0;
  std::vector<float> profile_;    // mean of x by time of day
  std::vector<float> yesterday_;  // last x at each time of the day
  std::vector<int16_t> week_;     // x by time of the week, in units of kWeekUnit; kNoWeek: no value
  int16_t week_before_ = 0;       // value of week_ at the last step, before it was overwritten
  std::vector<uint8_t> days_;     // number of days in the profile, by time of day
  std::array<Head, 2> heads_;
};

}  // namespace taut::brain
