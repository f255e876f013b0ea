// What the load of one job will be some steps ahead, as a distribution: a regression on the recent level and
// trend and on the same time of earlier days, with the spread that its errors had.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "brain/replicas/stored_values.h"
#include "common/base/bytes.h"

namespace taut::brain {

inline constexpr int kErrorBins = 96;

// The distribution of the load at one step to come, in tasks at 100 % utilisation. It
// points into its model.
struct LoadForecast {
  double centre = 0;  // of the logarithm of the load + kLogOffset
  double spread = 1;
  const std::array<float, kErrorBins>* above = nullptr;  // P(error / spread > bin's lower edge)

  double Median() const;
  // P(load > tasks).
  double ChanceAbove(double tasks) const;
  // The load that is exceeded with this chance, 0 < chance < 1. The inverse of ChanceAbove but for rounding.
  double WithChanceAbove(double chance) const;
};

// Recursive least squares with forgetting.
template <int N>
class OnlineRegression {
 public:
  OnlineRegression(double prior_variance, double memory_steps);
  double Predict(const std::array<double, N>& x) const;
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

class LoadModel {
 public:
  LoadModel(int slots_per_day, int steps_ahead);

  // Takes in the load of step `step` (of the clock, so that step mod slots is the time of the day), in tasks.
  // Steps come in ascending order; those left out were not measured.
  void Observe(int64_t step, double load);
  // As of the step observed last; `ahead` is 1 or steps_ahead.
  LoadForecast At(bool far) const {
    const Head& head = heads_[far ? 1 : 0];
    return {head.centre, head.spread, &head.errors[head.regime].above};
  }
  int64_t observed() const { return observed_; }
  int slots_per_day() const { return slots_; }
  int steps_ahead() const { return heads_[1].ahead; }
  void Save(ByteWriter& out) const;
  // Of a model with as many slots and steps ahead. After a failure of `in` the object is not to be used.
  void Load(StoredValues& in);
  size_t state_bytes() const;

 private:
  static constexpr int kFeatures = 13;
  static constexpr int kScaleFeatures = 6;
  static constexpr size_t kRegimes = 3;
  using Features = std::array<double, kFeatures>;
  using ScaleFeatures = std::array<double, kScaleFeatures>;
  struct Pending {
    int64_t step = -1;  // that it is about
    Features x{};
    ScaleFeatures s{};
    double base = 0, predicted = 0, spread = 0;
    size_t regime = 0;
  };
  // The forecast for one distance.
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
      std::array<float, kErrorBins> counts{};  // of error / spread, decayed
      std::array<float, kErrorBins> above{};
    };
    std::array<Errors, kRegimes> errors;  // by how wide the spread is against its long-term mean
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
  // x a week before `then`, which is to come, and the next steps; absent: not all are known.
  std::optional<double> WeekAt(int64_t then) const;

  int slots_;
  int64_t observed_ = 0;
  std::array<double, 2> recent_{};  // x = log(load + offset) of the last steps
  double mean5_ = 0, mean15_ = 0, mean60_ = 0;
  std::vector<float> profile_;    // mean of x by time of day
  std::vector<float> yesterday_;  // x by time of day
  std::vector<int16_t> week_;     // x by time of the week, in kWeekUnit; kNoWeek: no value yet
  int16_t week_before_ = 0;       // what week_ had at the step observed last, a week before
  std::vector<uint8_t> days_;     // that the profile has, by time of day
  std::array<Head, 2> heads_;
};

}  // namespace taut::brain
