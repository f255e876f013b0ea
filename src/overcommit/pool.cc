#include "overcommit/pool.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "overcommit/history.h"

namespace taut {
namespace {

constexpr double kBin = 0.001;
constexpr double kLeast = -2, kMost = 48;  // errors outside count as these
constexpr double kWeekDays = 7;

constexpr PoolBase kBases[kPoolBases] = {
    {"mixed", "the mean of the highest usages of a day, a week and two weeks and the tasks' own of a week",
     [](const PoolFeatures& f) { return (f.day + f.week + f.fortnight + f.own_week) / 4; },
     [](const PoolFeatures& f) { return std::sqrt(std::max(f.own_week, 1e-6 * f.limit) * f.limit); }},
    {"own", "the mean of the highest usage of a week and the tasks' own",
     [](const PoolFeatures& f) { return (f.week + f.own_week) / 2; },
     [](const PoolFeatures& f) { return std::max((f.week + f.own_week) / 2, 1e-3 * f.limit); }},
    {"apart", "the mean of the highest usages of one and two weeks, scaled by how far apart the tasks peak",
     [](const PoolFeatures& f) { return (f.week + f.fortnight) / 2; },
     [](const PoolFeatures& f) { return std::max(f.own_week - f.week, 1e-3 * f.limit); }},
};

class PoolPredictor final : public PeakPredictor {
 public:
  PoolPredictor(const PoolSettings& settings, double horizon_h)
      : settings_(settings),
        block_windows_(std::max(1, static_cast<int32_t>(std::lround(settings.every_h * kWindowsPerHour)))),
        horizon_blocks_(BlocksOf(horizon_h / 24)),
        order_(settings.over, settings.gain) {}

  void Observe(WindowId window, uint32_t machine, const MachineWindow& load) override {
    while (machines_.size() <= machine) machines_.emplace_back(BlocksOf(2 * kWeekDays));
    Machine& m = machines_[machine];
    if (!m.first.has_value()) m.first = window;
    m.last = window;
    const WindowId block = BlockOf(window);
    const auto states = m.tasks.Match(load.tasks, [this] { return Task(BlocksOf(kWeekDays)); });
    m.limit = load.limit;
    m.cold_limit = 0;
    m.cold_tasks = 0;
    for (size_t i = 0; i < load.tasks.size(); ++i) {
      const TaskLoad& t = load.tasks[i];
      Task& state = states[i].state;
      if (t.measured()) {
        ++state.samples;
        state.peaks.PutHighest(block, t.capped());
      } else {
        state.peaks.Advance(block);
      }
      if (state.samples >= settings_.min_samples) continue;
      m.cold_limit += t.limit;
      ++m.cold_tasks;
    }
    if (load.measured()) {
      m.peaks.PutHighest(block, static_cast<float>(load.usage));
    } else {
      m.peaks.Advance(block);
    }
  }

  // At the end of a block: what came of the forecasts of a horizon ago, and the forecasts of now.
  void EndWindow(WindowId window) override {
    if (BlockOf(window) == BlockOf(window.next())) return;
    const WindowId block = BlockOf(window);
    while (!pending_.empty() && pending_.front().block.index + horizon_blocks_ < block.index)
      pending_.pop_front();
    if (!pending_.empty() && pending_.front().block.index + horizon_blocks_ == block.index) {
      Compare(pending_.front());
      pending_.pop_front();
    }
    UpdateQuantiles();
    Forecasts now{block, {}};
    for (uint32_t i = 0; i < machines_.size(); ++i) {
      const Machine& m = machines_[i];
      if (m.last != window || !Known(m) || m.cold_tasks > 0) continue;
      const PoolFeatures f = FeaturesOf(m);
      Forecast forecast{.machine = i, .tasks = m.tasks.changes(), .peak = PeakBy(f), .of = {}};
      for (size_t k = 0; k < kPoolBases; ++k) forecast.of[k] = {kBases[k].base(f), kBases[k].scale(f)};
      now.machines.push_back(forecast);
    }
    pending_.push_back(std::move(now));
  }

  double Predict(uint32_t machine) const override {
    if (machine >= machines_.size()) return 0;
    const Machine& m = machines_[machine];
    if (!Known(m) || !Calibrated()) return m.limit;
    return std::min(m.limit, PeakBy(FeaturesOf(m)) + m.cold_limit);
  }

  void Explain(uint32_t machine, Reason& reason) const override {
    reason.recommender = "pool";
    if (machine >= machines_.size()) return;
    const Machine& m = machines_[machine];
    if (!Known(m)) {
      reason.sentence = fmt::format("The limits, {:.6g}: the machine is known for less than {:g} days.",
                                    m.limit, settings_.history_days);
      return;
    }
    if (!Calibrated()) {
      reason.sentence =
          fmt::format("The limits, {:.6g}: of {:g} machine-days of completed forecasts there are {:.3g}.",
                      m.limit, settings_.min_days, MachineDays());
      return;
    }
    const PoolFeatures f = FeaturesOf(m);
    reason.sentence = fmt::format(
        "The mean of {} forecasts, {:.6g}: above each were {:.3g} % of {:.4g} machine-days of the cell; "
        "ordered are {:.3g} %.",
        kPoolBases, PeakBy(f), 100 * share_, MachineDays(), 100 * settings_.over);
    for (size_t k = 0; k < kPoolBases; ++k) {
      Candidate candidate;
      candidate.name = kBases[k].name;
      candidate.limit = PeakOf(k, f);
      candidate.detail = fmt::format("{}, {:.6g}, plus {:.4g} times {:.6g}", kBases[k].what,
                                     kBases[k].base(f), quantiles_[k], kBases[k].scale(f));
      reason.candidates.push_back(std::move(candidate));
    }
    if (m.cold_tasks > 0) {
      reason.sentence +=
          fmt::format(" {} with little history count with their limits, {:.6g}.",
                      m.cold_tasks == 1 ? "1 task" : fmt::format("{} tasks", m.cold_tasks), m.cold_limit);
    }
    reason.chance = settings_.over;
  }

 private:
  struct Task {
    explicit Task(size_t blocks) : peaks(blocks) {}
    WindowRing peaks;  // by block
    uint32_t samples = 0;
  };
  struct Machine {
    explicit Machine(size_t blocks) : peaks(blocks) {}
    WindowRing peaks;  // by block
    TaskStates<Task> tasks;
    std::optional<WindowId> first;
    WindowId last;
    double limit = 0, cold_limit = 0;
    uint32_t cold_tasks = 0;
  };
  struct Forecast {
    struct Of {
      double base = 0, scale = 0;
    };
    uint32_t machine = 0;
    uint64_t tasks = 0;  // changes of its tasks until then
    double peak = 0;
    std::array<Of, kPoolBases> of;
  };
  struct Forecasts {
    WindowId block;
    std::vector<Forecast> machines;
  };

  WindowId BlockOf(WindowId w) const { return {static_cast<int32_t>(FloorDiv(w.index, block_windows_))}; }
  int32_t BlocksOf(double days) const {
    return std::max(1, static_cast<int32_t>(std::lround(days * kWindowsPerDay / block_windows_)));
  }
  bool Known(const Machine& m) const {
    return m.first.has_value() &&
           m.last.index - m.first->index + 1 >= settings_.history_days * kWindowsPerDay &&
           m.peaks.Highest() >= 0;
  }
  double MachineDays() const { return static_cast<double>(errors_[0].n()) * block_windows_ / kWindowsPerDay; }
  bool Calibrated() const { return errors_[0].n() > 0 && MachineDays() >= settings_.min_days; }

  PoolFeatures FeaturesOf(const Machine& m) const {
    PoolFeatures f;
    f.limit = m.limit;
    f.fortnight = std::max(0.0F, m.peaks.Highest());
    f.week = std::max(0.0F, m.peaks.HighestOfLast(BlocksOf(kWeekDays)));
    f.day = std::max(0.0F, m.peaks.HighestOfLast(BlocksOf(1)));
    for (const auto& entry : m.tasks.entries()) f.own_week += std::max(0.0F, entry.state.peaks.Highest());
    return f;
  }
  double PeakOf(size_t k, const PoolFeatures& f) const {
    return std::clamp(kBases[k].base(f) + quantiles_[k] * kBases[k].scale(f), 0.0, f.limit);
  }
  double PeakBy(const PoolFeatures& f) const {
    if (!Calibrated()) return f.limit;
    double sum = 0;
    for (size_t k = 0; k < kPoolBases; ++k) sum += PeakOf(k, f);
    return sum / kPoolBases;
  }

  void Compare(const Forecasts& past) {
    uint64_t n = 0, passed = 0;
    for (const Forecast& forecast : past.machines) {
      const Machine& m = machines_[forecast.machine];
      // The peak of other tasks says nothing, nor does one of which less than half was measured.
      if (m.tasks.changes() != forecast.tasks) continue;
      if (2 * m.peaks.PresentOfLast(static_cast<size_t>(horizon_blocks_)) <
          static_cast<size_t>(horizon_blocks_))
        continue;
      const double peak = m.peaks.HighestOfLast(static_cast<size_t>(horizon_blocks_));
      for (size_t k = 0; k < kPoolBases; ++k) {
        const Forecast::Of& of = forecast.of[k];
        errors_[k].Add((peak - of.base) / of.scale);
      }
      ++n;
      passed += peak > forecast.peak ? 1 : 0;
    }
    if (n == 0) return;
    ++compared_;
    order_.Take(static_cast<double>(passed) / static_cast<double>(n));
  }
  // The machines of one day may all pass at once, so that few days show little, on however many machines.
  double Share() const {
    const double days = static_cast<double>(compared_) * block_windows_ / kWindowsPerDay;
    return order_.used() * days / (days + settings_.prior_days);
  }
  void UpdateQuantiles() {
    if (!Calibrated()) return;
    share_ = Share();
    for (size_t k = 0; k < kPoolBases; ++k) quantiles_[k] = errors_[k].Quantile(share_);
  }

  PoolSettings settings_;
  int32_t block_windows_, horizon_blocks_;
  std::vector<Machine> machines_;
  std::deque<Forecasts> pending_;
  std::array<PoolErrors, kPoolBases> errors_;
  std::array<double, kPoolBases> quantiles_ = {};
  PoolOrder order_;
  uint64_t compared_ = 0;  // blocks whose forecasts were compared
  double share_ = 0;       // of errors above the quantiles
};

}  // namespace

std::span<const PoolBase, kPoolBases> PoolBases() { return kBases; }

PoolErrors::PoolErrors() : counts_(static_cast<size_t>((kMost - kLeast) / kBin) + 1) {}

void PoolErrors::Add(double error) {
  const double at = std::ceil((std::clamp(error, kLeast, kMost) - kLeast) / kBin);
  ++counts_[static_cast<size_t>(at)];
  ++n_;
}

double PoolErrors::Quantile(double over) const {
  const auto above = static_cast<uint64_t>(over * static_cast<double>(n_ + 1));  // errors that may be above
  uint64_t seen = 0;
  for (size_t i = counts_.size(); i-- > 0;) {
    seen += counts_[i];
    if (seen > above) return kLeast + static_cast<double>(i) * kBin;
  }
  return kLeast;
}

void PoolOrder::Take(double passed) {
  used_ =
      std::clamp(used_ + gain_ * ordered_ * (ordered_ - passed), ordered_ / 5, std::min(0.5, 5 * ordered_));
}

std::unique_ptr<PeakPredictor> NewPoolPredictor(const PoolSettings& settings, double horizon_h) {
  return std::make_unique<PoolPredictor>(settings, horizon_h);
}

}  // namespace taut
