#include "brain/overcommit/pool.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "brain/overcommit/history.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr double kBin = 0.001;
constexpr double kLeast = -2, kMost = 48;  // errors outside this range count at its ends
constexpr double kWeekDays = 7;

constexpr PoolBase kMixed = {
    "mixed", "the mean of the highest usages of a day, a week and two weeks and the tasks' own of a week",
    [](const PoolFeatures& f) { return (f.day + f.week + f.fortnight + f.own_week) / 4; },
    [](const PoolFeatures& f) { return std::sqrt(std::max(f.own_week, 1e-6 * f.limit) * f.limit); }};
constexpr PoolBase kApart = {
    "apart", "the mean of the highest usages of one and two weeks, scaled by how far apart the tasks peak",
    [](const PoolFeatures& f) { return (f.week + f.fortnight) / 2; },
    [](const PoolFeatures& f) { return std::max(f.own_week - f.week, 1e-3 * f.limit); }};
constexpr PoolBase kBases[kPoolBases] = {
    kMixed,
    {"own", "the mean of the highest usage of a week and the tasks' own",
     [](const PoolFeatures& f) { return (f.week + f.own_week) / 2; },
     [](const PoolFeatures& f) { return std::max((f.week + f.own_week) / 2, 1e-3 * f.limit); }},
    kApart,
};
// Pairs for a horizon below a day.
constexpr PoolBase kBasesOfPart[kPoolBases] = {
    kMixed,
    {"recent", "the mean of the highest usages of 6 hours and a week and the tasks' own of a day",
     [](const PoolFeatures& f) { return (f.recent + f.week + f.own_day) / 3; },
     [](const PoolFeatures& f) { return std::max(f.own_week - f.recent, 1e-3 * f.limit); }},
    kApart,
};

constexpr uint32_t kPoolState = 1;  // version of the saved state
constexpr size_t kMaxMachines = 1'000'000;

std::string PlainText(double amount) { return fmt::format("{:.6g}", amount); }

class PoolPredictor final : public PoolForecaster {
 public:
  PoolPredictor(const PoolSettings& settings, double horizon_h)
      : settings_(settings),
        block_windows_(std::max(1, static_cast<int32_t>(std::lround(settings.every_h * kWindowsPerHour)))),
        horizon_blocks_(BlocksOf(horizon_h / 24)),
        bases_(PoolBases(Horizon())),
        order_(settings.over, settings.gain) {}
  PoolPredictor(const PoolSettings& settings, int32_t block_windows, int32_t horizon_blocks)
      : settings_(settings),
        block_windows_(block_windows),
        horizon_blocks_(horizon_blocks),
        bases_(PoolBases(Horizon())),
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

  // At the end of a block, compares the forecasts of one horizon ago with the observed peaks, and makes new
  // forecasts.
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
      // The forecast of a machine with cold tasks is not stored, because such a forecast contains limits in place
      // of usage and cannot be compared with a peak.
      if (m.last != window || !Known(m) || m.cold_tasks > 0) continue;
      const PoolFeatures f = FeaturesOf(m);
      Forecast forecast{.machine = i, .tasks = m.tasks.changes(), .peak = PeakBy(f), .of = {}};
      for (size_t k = 0; k < kPoolBases; ++k) forecast.of[k] = {bases_[k].base(f), bases_[k].scale(f)};
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

  void Explain(uint32_t machine, Reason& reason) const override { ExplainIn(machine, PlainText, reason); }
  void ExplainIn(uint32_t machine, absl::FunctionRef<std::string(double)> text,
                 Reason& reason) const override {
    reason.recommender = "pool";
    if (machine >= machines_.size()) return;
    const Machine& m = machines_[machine];
    if (!Known(m)) {
      reason.sentence = fmt::format("The limits, {}: the machine is known for less than {:g} days.",
                                    text(m.limit), settings_.history_days);
      return;
    }
    if (!Calibrated()) {
      reason.sentence =
          fmt::format("The limits, {}: of {:g} machine-days of completed forecasts there are {:.3g}.",
                      text(m.limit), settings_.min_days, MachineDays());
      return;
    }
    const PoolFeatures f = FeaturesOf(m);
    reason.sentence = fmt::format(
        "The mean of {} forecasts, {}: above each were {:.3g} % of {:.4g} machine-days of the cell; "
        "ordered are {:.3g} %.",
        kPoolBases, text(PeakBy(f)), 100 * share_, MachineDays(), 100 * settings_.over);
    for (size_t k = 0; k < kPoolBases; ++k) {
      Candidate candidate;
      candidate.name = bases_[k].name;
      candidate.limit = PeakOf(k, f);
      candidate.detail = fmt::format("{}, {}, plus {:.4g} times {}", bases_[k].what, text(bases_[k].base(f)),
                                     quantiles_[k], text(bases_[k].scale(f)));
      reason.candidates.push_back(std::move(candidate));
    }
    if (m.cold_tasks > 0) {
      reason.sentence += fmt::format(" {} with little history count with their limits, {}.",
                                     m.cold_tasks == 1 ? "1 task" : fmt::format("{} tasks", m.cold_tasks),
                                     text(m.cold_limit));
    }
    reason.chance = settings_.over;
  }

  bool Learnt(uint32_t machine) const override {
    return machine < machines_.size() && Known(machines_[machine]) && Calibrated();
  }
  void Forget(uint32_t machine) override {
    if (machine < machines_.size()) machines_[machine] = Machine(BlocksOf(2 * kWeekDays));
  }

  std::optional<std::array<double, kPoolBases>> Quantiles() const override {
    return Calibrated() ? std::optional(quantiles_) : std::nullopt;
  }
  double MachineDays() const override {
    return static_cast<double>(errors_[0].n()) * block_windows_ / kWindowsPerDay;
  }

  void Save(ByteWriter& out) const override {
    out.Put(kPoolState);
    out.Put(block_windows_);
    out.Put(horizon_blocks_);
    out.Put(settings_.over);
    out.Put(order_.used());
    out.Put(compared_);
    out.Put(share_);
    for (size_t k = 0; k < kPoolBases; ++k) {
      out.Put(quantiles_[k]);
      errors_[k].Save(out);
    }
    out.PutVarint(machines_.size());
    for (const Machine& m : machines_) SaveMachine(m, out);
    out.PutVarint(pending_.size());
    for (const Forecasts& f : pending_) SaveForecasts(f, out);
  }
  absl::Status Load(ByteReader& in) override {
    PoolPredictor next(settings_, block_windows_, horizon_blocks_);
    if (absl::Status s = next.LoadAll(in); !s.ok()) return s;
    *this = std::move(next);
    return absl::OkStatus();
  }

 private:
  struct Task {
    explicit Task(size_t blocks) : peaks(blocks) {}
    WindowRing peaks;  // the task's peak in each block
    uint32_t samples = 0;
  };
  struct Machine {
    explicit Machine(size_t blocks) : peaks(blocks) {}
    WindowRing peaks;  // the machine's peak in each block
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
    uint64_t tasks = 0;  // TaskStates::changes() at the time of the forecast
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
  PoolHorizon Horizon() const {
    const bool part = horizon_blocks_ < BlocksOf(1) && kWindowsPerDay % block_windows_ == 0;
    return part ? PoolHorizon::kPartOfDay : PoolHorizon::kDay;
  }
  bool Known(const Machine& m) const {
    return m.first.has_value() &&
           m.last.index - m.first->index + 1 >= settings_.history_days * kWindowsPerDay &&
           m.peaks.Highest() >= 0;
  }
  bool Calibrated() const { return errors_[0].n() > 0 && MachineDays() >= settings_.min_days; }

  PoolFeatures FeaturesOf(const Machine& m) const {
    PoolFeatures f;
    f.limit = m.limit;
    f.fortnight = std::max(0.0F, m.peaks.Highest());
    f.week = std::max(0.0F, m.peaks.HighestOfLast(BlocksOf(kWeekDays)));
    f.day = std::max(0.0F, m.peaks.HighestOfLast(BlocksOf(1)));
    for (const auto& entry : m.tasks.entries()) f.own_week += std::max(0.0F, entry.state.peaks.Highest());
    if (Horizon() == PoolHorizon::kPartOfDay) ToHours(m, f);
    return f;
  }
  // Restricts the features to the hours of the horizon.
  void ToHours(const Machine& m, PoolFeatures& f) const {
    const auto blocks = static_cast<size_t>(horizon_blocks_), day = static_cast<size_t>(BlocksOf(1));
    f.recent = std::max(0.0F, m.peaks.HighestOfLast(BlocksOf(kRecentHours / 24)));
    const auto of = [&](size_t days) {
      return std::max(f.recent, double{m.peaks.HighestOfHours(blocks, day, days)});
    };
    f.day = of(1);
    f.week = of(static_cast<size_t>(kWeekDays));
    f.fortnight = of(static_cast<size_t>(2 * kWeekDays));
    for (const auto& entry : m.tasks.entries())
      f.own_day += std::max(0.0F, entry.state.peaks.HighestOfLast(day));
  }
  double PeakOf(size_t k, const PoolFeatures& f) const {
    return std::clamp(bases_[k].base(f) + quantiles_[k] * bases_[k].scale(f), 0.0, f.limit);
  }
  double PeakBy(const PoolFeatures& f) const {
    if (!Calibrated()) return f.limit;
    double sum = 0;
    for (size_t k = 0; k < kPoolBases; ++k) sum += PeakOf(k, f);
    return sum / kPoolBases;
  }

  static void SaveMachine(const Machine& m, ByteWriter& out) {
    out.Put(uint8_t{m.first.has_value()});
    if (!m.first.has_value()) return;
    out.Put(m.first->index);
    out.Put(m.last.index);
    out.Put(m.limit);
    out.Put(m.cold_limit);
    out.PutVarint(m.cold_tasks);
    m.peaks.Save(out);
    m.tasks.Save(out, [&out](const Task& task) {
      out.PutVarint(task.samples);
      task.peaks.Save(out);
    });
  }
  absl::Status LoadMachine(ByteReader& in, Machine& m) const {
    if (in.Get<uint8_t>() == 0) return in.status("a machine of the pool");
    m.first = WindowId{in.Get<int32_t>()};
    m.last = WindowId{in.Get<int32_t>()};
    m.limit = in.Get<double>();
    m.cold_limit = in.Get<double>();
    m.cold_tasks = static_cast<uint32_t>(in.GetVarint());
    const bool timed = IsWindow(m.first->index) && IsWindow(m.last.index) && m.first <= m.last;
    if (!timed || !(m.limit >= 0) || !(m.cold_limit >= 0))
      return absl::DataLossError("a machine of the pool that is none");
    if (absl::Status s = m.peaks.Load(in); !s.ok()) return s;
    return m.tasks.Load(
        in, [this] { return Task(BlocksOf(kWeekDays)); },
        [&in](Task& task) {
          task.samples = static_cast<uint32_t>(in.GetVarint());
          return task.peaks.Load(in);
        });
  }
  static void SaveForecasts(const Forecasts& forecasts, ByteWriter& out) {
    out.Put(forecasts.block.index);
    out.PutVarint(forecasts.machines.size());
    for (const Forecast& f : forecasts.machines) {
      out.PutVarint(f.machine);
      out.PutVarint(f.tasks);
      out.Put(f.peak);
      for (const Forecast::Of& of : f.of) {
        out.Put(of.base);
        out.Put(of.scale);
      }
    }
  }
  absl::Status LoadForecasts(ByteReader& in, Forecasts& forecasts) const {
    forecasts.block.index = in.Get<int32_t>();
    if (!IsWindow(forecasts.block.index)) return absl::DataLossError("forecasts of the pool of no time");
    const uint64_t size = in.GetVarint();
    for (uint64_t i = 0; i < size && !in.failed(); ++i) {
      Forecast& f = forecasts.machines.emplace_back();
      f.machine = static_cast<uint32_t>(in.GetVarint());
      f.tasks = in.GetVarint();
      f.peak = in.Get<double>();
      bool scaled = true;
      for (Forecast::Of& of : f.of) {
        of.base = in.Get<double>();
        of.scale = in.Get<double>();
        scaled = scaled && std::isfinite(of.base) && of.scale > 0;
      }
      const bool known = f.machine < machines_.size() && machines_[f.machine].first.has_value();
      if (!in.failed() && (!known || !scaled))
        return absl::DataLossError("a forecast of the pool that is none");
    }
    return in.status("the forecasts of the pool");
  }
  absl::Status LoadHead(ByteReader& in) {
    const auto version = in.Get<uint32_t>();
    const auto block = in.Get<int32_t>(), horizon = in.Get<int32_t>();
    const auto over = in.Get<double>(), used = in.Get<double>();
    compared_ = in.Get<uint64_t>();
    share_ = in.Get<double>();
    if (absl::Status s = in.status("the pool"); !s.ok()) return s;
    if (version != kPoolState)
      return absl::UnimplementedError(
          fmt::format("state of the pool of version {}, this one reads {}", version, kPoolState));
    if (block != block_windows_ || horizon != horizon_blocks_)
      return absl::FailedPreconditionError("state of a pool of other settings");
    // With another target share the errors stay valid, but the share in use restarts from its initial value.
    if (over == settings_.over && !order_.Restore(used))
      return absl::DataLossError("the pool has a share in use that is out of bounds");
    return absl::OkStatus();
  }
  absl::Status LoadAll(ByteReader& in) {
    if (absl::Status s = LoadHead(in); !s.ok()) return s;
    for (size_t k = 0; k < kPoolBases; ++k) {
      quantiles_[k] = in.Get<double>();
      if (absl::Status s = errors_[k].Load(in); !s.ok()) return s;
    }
    const uint64_t machines = in.GetVarint();
    if (machines > kMaxMachines) return absl::DataLossError("a pool of too many machines");
    for (uint64_t i = 0; i < machines; ++i) {
      machines_.emplace_back(BlocksOf(2 * kWeekDays));
      if (absl::Status s = LoadMachine(in, machines_.back()); !s.ok()) return s;
    }
    const uint64_t pending = in.GetVarint();
    for (uint64_t i = 0; i < pending && !in.failed(); ++i) {
      if (absl::Status s = LoadForecasts(in, pending_.emplace_back()); !s.ok()) return s;
    }
    return in.status("the pool");
  }

  void Compare(const Forecasts& past) {
    uint64_t n = 0, passed = 0;
    for (const Forecast& forecast : past.machines) {
      const Machine& m = machines_[forecast.machine];
      // Skips a machine whose tasks have changed, because the peak belongs to other tasks. Also skips a machine if
      // less than half of its horizon was measured.
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
  // Returns the share in use, reduced for a short history. Peaks of one day are correlated over all machines, so
  // that the number of compared days determines the reduction, not the number of machines.
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
  std::span<const PoolBase, kPoolBases> bases_;
  std::vector<Machine> machines_;
  std::deque<Forecasts> pending_;
  std::array<PoolErrors, kPoolBases> errors_;
  std::array<double, kPoolBases> quantiles_ = {};
  PoolOrder order_;
  uint64_t compared_ = 0;  // number of blocks whose forecasts were compared
  double share_ = 0;       // share of errors above the quantiles
};

}  // namespace

std::span<const PoolBase, kPoolBases> PoolBases(PoolHorizon horizon) {
  return horizon == PoolHorizon::kDay ? kBases : kBasesOfPart;
}

PoolErrors::PoolErrors() : counts_(static_cast<size_t>((kMost - kLeast) / kBin) + 1) {}

void PoolErrors::Add(double error) {
  const double at = std::ceil((std::clamp(error, kLeast, kMost) - kLeast) / kBin);
  ++counts_[static_cast<size_t>(at)];
  ++n_;
}

double PoolErrors::Quantile(double over) const {
  // number of errors that may exceed the quantile
  const auto above = static_cast<uint64_t>(over * static_cast<double>(n_ + 1));
  uint64_t seen = 0;
  for (size_t i = counts_.size(); i-- > 0;) {
    seen += counts_[i];
    if (seen > above) return kLeast + static_cast<double>(i) * kBin;
  }
  return kLeast;
}

void PoolErrors::Save(ByteWriter& out) const {
  uint64_t bins = 0;
  for (const uint32_t count : counts_) bins += count > 0 ? 1 : 0;
  out.PutVarint(bins);
  size_t last = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    out.PutVarint(i - last);
    out.PutVarint(counts_[i]);
    last = i;
  }
}

absl::Status PoolErrors::Load(ByteReader& in) {
  std::ranges::fill(counts_, 0);
  n_ = 0;
  const uint64_t bins = in.GetVarint();
  size_t at = 0;
  for (uint64_t i = 0; i < bins && !in.failed(); ++i) {
    const uint64_t step = in.GetVarint(), count = in.GetVarint();
    if (step >= counts_.size() - at || count > UINT32_MAX || (i > 0 && step == 0))
      return absl::DataLossError("the errors of the pool are out of order");
    at += step;
    counts_[at] = static_cast<uint32_t>(count);
    n_ += count;
  }
  return in.status("the errors of the pool");
}

bool PoolOrder::Restore(double used) {
  if (!(used >= ordered_ / 5 && used <= std::min(0.5, 5 * ordered_))) return false;
  used_ = used;
  return true;
}

void PoolOrder::Take(double passed) {
  used_ =
      std::clamp(used_ + gain_ * ordered_ * (ordered_ - passed), ordered_ / 5, std::min(0.5, 5 * ordered_));
}

std::unique_ptr<PoolForecaster> NewPoolPredictor(const PoolSettings& settings, double horizon_h) {
  return std::make_unique<PoolPredictor>(settings, horizon_h);
}

}  // namespace taut::brain
