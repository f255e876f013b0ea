#include "brain/overcommit/summed_peaks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "brain/overcommit/pool.h"
#include "common/base/quantile.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

size_t Windows(double hours) {
  return static_cast<size_t>(std::max(1.0, std::round(hours * kWindowsPerHour)));
}

template <typename T>
std::span<const T> Newest(std::span<const T> all, size_t windows) {
  return all.size() > windows ? all.subspan(all.size() - windows) : all;
}

double HighestOf(std::span<const uint32_t> usage) { return usage.empty() ? 0 : std::ranges::max(usage); }
double HighestOf(std::span<const uint16_t> usage) {
  uint16_t highest = 0;
  for (const uint16_t u : usage) highest = u != TaskSeries16::kNotMeasured && u > highest ? u : highest;
  return highest;
}

// Predicts a statistic of the ratios usage / limits, over the windows in which at least half of the limits were
// measured.
class SummedRatio : public SummedPeak {
 public:
  SummedRatio(double window_h, double min_samples) : windows_(Windows(window_h)), min_samples_(min_samples) {}
  size_t windows(WindowId /*last*/) const final { return windows_; }
  double min_samples() const final { return min_samples_; }
  double Peak(WindowId /*last*/, const SummedTasks& tasks) const final {
    const auto usage = Newest(tasks.usage, windows_), limit = Newest(tasks.limit, windows_);
    ratios().clear();
    for (size_t i = 0; i < usage.size(); ++i) {
      if (limit[i] > 0 && 2.0 * limit[i] >= tasks.warm)
        ratios().push_back(static_cast<float>(static_cast<double>(usage[i]) / limit[i]));
    }
    return std::min(1.0, Of(ratios())) * tasks.warm + tasks.cold;
  }

 protected:
  // Returns the statistic; infinity for too few ratios.
  virtual double Of(std::vector<float>& ratios) const = 0;

 private:
  // A buffer per thread, because several threads share this object, each with its own machines.
  static std::vector<float>& ratios() {
    thread_local std::vector<float> all;
    return all;
  }
  const size_t windows_;
  const double min_samples_;
};

class SummedNSigma final : public SummedRatio {
 public:
  explicit SummedNSigma(const NSigmaSettings& s) : SummedRatio(s.window_h, s.min_samples), n_(s.n) {}

 private:
  double Of(std::vector<float>& ratios) const override {
    if (ratios.size() < 2) return HUGE_VAL;
    const auto n = static_cast<double>(ratios.size());
    double sum = 0, squares = 0;
    for (const float r : ratios) sum += r;
    const double mean = sum / n;
    for (const float r : ratios) squares += (r - mean) * (r - mean);
    return mean + n_ * std::sqrt(squares / (n - 1));
  }
  const double n_;
};

class SummedPercentile final : public SummedRatio {
 public:
  explicit SummedPercentile(const MachinePercentileSettings& s)
      : SummedRatio(s.window_h, s.min_samples), percentile_(s.percentile) {}

 private:
  double Of(std::vector<float>& ratios) const override {
    return ratios.empty() ? HUGE_VAL : InterpolatedQuantile(ratios, percentile_ / 100);
  }
  const double percentile_;
};

// Predicts the peak of a day, so that MachineMaxSettings::hours has no effect.
class SummedMachineMax final : public SummedPeak {
 public:
  explicit SummedMachineMax(const MachineMaxSettings& s) : settings_(s), windows_(Windows(s.days * 24)) {}
  size_t windows(WindowId /*last*/) const override { return windows_; }
  double min_samples() const override { return settings_.min_samples; }
  size_t own() const override { return settings_.share > 0 ? 1 : 0; }
  void Own(WindowId /*last*/, const TaskSeries16& task, std::span<double> out) const override {
    if (!out.empty()) out[0] = HighestOf(Newest(task.usage, windows_));
  }
  double Peak(WindowId /*last*/, const SummedTasks& tasks) const override {
    const double highest = HighestOf(Newest(tasks.usage, windows_));
    const double own = tasks.own.empty() ? highest : tasks.own[0];
    const double peak = settings_.factor * highest + settings_.share * std::max(0.0, own - highest);
    return std::min(peak, tasks.warm) + tasks.cold;
  }

 private:
  const MachineMaxSettings settings_;
  const size_t windows_;
};

// Uses the error quantiles of a pool that observes machines composed of the recorded tasks. Predicts the peak of a
// day.
class SummedPool final : public SummedPeak {
 public:
  explicit SummedPool(const PoolSettings& settings)
      : settings_(settings),
        pool_(NewPoolPredictor(settings, 24)),
        block_(std::max(1, static_cast<int32_t>(std::lround(settings.every_h * kWindowsPerHour)))) {}

  size_t windows(WindowId last) const override {
    return std::max(Back(last, kFortnightDays), Windows(24 * settings_.history_days));
  }
  double min_samples() const override { return settings_.min_samples; }
  size_t own() const override { return 1; }
  void Own(WindowId last, const TaskSeries16& task, std::span<double> out) const override {
    out[0] = HighestOf(Newest(task.usage, Back(last, kWeekDays)));
  }
  double Peak(WindowId last, const SummedTasks& tasks) const override {
    const double all = tasks.warm + tasks.cold;
    const auto quantiles = pool_->Quantiles();
    if (!quantiles.has_value() || !Known(tasks)) return all;
    PoolFeatures f;
    f.limit = all;
    f.day = HighestOf(Newest(tasks.usage, Back(last, 1)));
    f.week = HighestOf(Newest(tasks.usage, Back(last, kWeekDays)));
    f.fortnight = HighestOf(Newest(tasks.usage, Back(last, kFortnightDays)));
    f.own_week = tasks.own[0];
    double sum = 0;
    for (size_t k = 0; k < kPoolBases; ++k) {
      const PoolBase& base = PoolBases(PoolHorizon::kDay)[k];
      sum += std::clamp(base.base(f) + (*quantiles)[k] * base.scale(f), 0.0, f.limit);
    }
    return std::min(all, sum / kPoolBases + tasks.cold);
  }

  bool learns() const override { return true; }
  void Observe(WindowId window, uint32_t machine, const MachineWindow& load) override {
    pool_->Observe(window, machine, load);
  }
  void EndWindow(WindowId window) override { pool_->EndWindow(window); }
  std::string Lacks() const override {
    if (pool_->Quantiles().has_value()) return {};
    return fmt::format("of {:g} machine-days of completed forecasts there are {:.3g}: the limits count",
                       settings_.min_days, pool_->MachineDays());
  }

 private:
  static constexpr double kWeekDays = 7, kFortnightDays = 14;

  // Returns the number of windows in the last `days` days, rounded to whole blocks. The last block may be
  // incomplete.
  size_t Back(WindowId last, double days) const {
    const auto blocks = std::max<int64_t>(1, std::lround(days * kWindowsPerDay / block_));
    const int64_t begin = (FloorDiv(last.index, block_) - (blocks - 1)) * block_;
    return static_cast<size_t>(last.index - begin + 1);
  }
  bool Known(const SummedTasks& tasks) const {
    const auto first = std::ranges::find_if(tasks.limit, [](uint32_t l) { return l > 0; });
    return static_cast<double>(tasks.limit.end() - first) >= settings_.history_days * kWindowsPerDay;
  }

  const PoolSettings settings_;
  const std::unique_ptr<PoolForecaster> pool_;
  const int32_t block_;
};

class SummedMax final : public SummedPeak {
 public:
  SummedMax(std::vector<std::unique_ptr<SummedPeak>> of, std::vector<std::string> alone)
      : of_(std::move(of)), alone_(std::move(alone)) {}
  size_t windows(WindowId last) const override {
    size_t most = 1;
    for (const auto& p : of_) most = std::max(most, p->windows(last));
    return most;
  }
  double min_samples() const override {
    double most = 0;
    for (const auto& p : of_) most = std::max(most, p->min_samples());
    return most;
  }
  std::vector<std::string> alone() const override { return alone_; }
  size_t own() const override {
    size_t all = 0;
    for (const auto& p : of_) all += p->own();
    return all;
  }
  void Own(WindowId last, const TaskSeries16& task, std::span<double> out) const override {
    for (const auto& p : of_) {
      p->Own(last, task, out.first(p->own()));
      out = out.subspan(p->own());
    }
  }
  double Peak(WindowId last, const SummedTasks& tasks) const override {
    double highest = 0;
    for (const double sum : tasks.alone) highest = std::max(highest, sum);
    SummedTasks of = tasks;
    size_t own = 0;
    for (const auto& p : of_) {
      of.own = tasks.own.subspan(own, p->own());
      own += p->own();
      highest = std::max(highest, p->Peak(last, of));
    }
    return std::min(highest, tasks.warm + tasks.cold);
  }
  bool learns() const override {
    return std::ranges::any_of(of_, [](const auto& p) { return p->learns(); });
  }
  void Observe(WindowId window, uint32_t machine, const MachineWindow& load) override {
    for (const auto& p : of_) p->Observe(window, machine, load);
  }
  void EndWindow(WindowId window) override {
    for (const auto& p : of_) p->EndWindow(window);
  }
  std::string Lacks() const override {
    for (const auto& p : of_) {
      if (std::string lacks = p->Lacks(); !lacks.empty()) return lacks;
    }
    return {};
  }

 private:
  const std::vector<std::unique_ptr<SummedPeak>> of_;
  const std::vector<std::string> alone_;
};

}  // namespace

std::unique_ptr<SummedPeak> NewSummedNSigma(const OvercommitSettings& settings) {
  return std::make_unique<SummedNSigma>(settings.n_sigma);
}
std::unique_ptr<SummedPeak> NewSummedMachinePercentile(const OvercommitSettings& settings) {
  return std::make_unique<SummedPercentile>(settings.machine_percentile);
}
std::unique_ptr<SummedPeak> NewSummedMachineMax(const OvercommitSettings& settings) {
  return std::make_unique<SummedMachineMax>(settings.machine_max);
}
std::unique_ptr<SummedPeak> NewSummedPool(const OvercommitSettings& settings) {
  return std::make_unique<SummedPool>(settings.pool);
}
std::unique_ptr<SummedPeak> NewSummedMax(std::vector<std::unique_ptr<SummedPeak>> of,
                                         std::vector<std::string> alone) {
  return std::make_unique<SummedMax>(std::move(of), std::move(alone));
}

}  // namespace taut::brain
