#include "brain/overcommit/statistics.h"

#include <cmath>
#include <utility>

#include "brain/overcommit/history.h"
#include "common/base/quantile.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

size_t WindowsOf(double hours) {
  return static_cast<size_t>(std::max(1.0, std::round(hours * kWindowsPerHour)));
}

// Returns the state of machine `i`; creates missing states up to `i`.
template <typename State, typename Make>
State& At(std::vector<State>& machines, uint32_t i, const Make& make) {
  while (machines.size() <= i) machines.push_back(make());
  return machines[i];
}

constexpr uint32_t kShareState = 1;  // version of SharePredictor's state

// Predicts that the peak is a constant share of the sum of the tasks' limits.
class SharePredictor final : public DurablePredictor {
 public:
  SharePredictor(std::string_view name, double share) : name_(name), share_(share) {}

  void Observe(WindowId /*window*/, uint32_t machine, const MachineWindow& load) override {
    At(limits_, machine, [] { return 0.0; }) = load.limit;
  }
  double Predict(uint32_t machine) const override {
    return machine < limits_.size() ? share_ * limits_[machine] : 0;
  }
  void Explain(uint32_t machine, Reason& reason) const override {
    ExplainIn(
        machine, [](double amount) { return fmt::format("{:.6g}", amount); }, reason);
  }
  void ExplainIn(uint32_t machine, absl::FunctionRef<std::string(double)> text,
                 Reason& reason) const override {
    reason.recommender = name_;
    reason.sentence = fmt::format("{:.4g} of the tasks' limits, {}.", share_,
                                  text(machine < limits_.size() ? limits_[machine] : 0));
  }
  bool Learnt(uint32_t /*machine*/) const override { return false; }
  void Forget(uint32_t machine) override {
    if (machine < limits_.size()) limits_[machine] = 0;
  }

  void Save(ByteWriter& out) const override {
    out.Put(kShareState);
    out.PutVarint(limits_.size());
    for (const double limit : limits_) out.Put(limit);
  }
  absl::Status Load(ByteReader& in) override {
    const auto version = in.Get<uint32_t>();
    const uint64_t size = in.GetVarint();
    if (absl::Status s = in.status("limits of machines"); !s.ok()) return s;
    if (version != kShareState)
      return absl::UnimplementedError(
          fmt::format("limits of machines of version {}, this one reads {}", version, kShareState));
    if (size > in.remaining() / sizeof(double)) return absl::DataLossError("limits of machines: truncated");
    std::vector<double> limits(size);
    for (double& limit : limits) {
      limit = in.Get<double>();
      if (!(limit >= 0)) return absl::DataLossError("limits of machines: one is below 0");
    }
    limits_ = std::move(limits);
    return absl::OkStatus();
  }

 private:
  std::string_view name_;
  double share_;
  std::vector<double> limits_;
};

// Sums of the limits of tasks with enough history (warm) and of tasks with little history (cold).
struct Limits {
  double warm = 0, cold = 0;
  uint32_t cold_tasks = 0;

  double sum() const { return warm + cold; }
};

std::string ColdText(const Limits& limits) {
  if (limits.cold_tasks == 0) return {};
  return fmt::format(" {} task{} with little history count{} with {} limit{}, {:.6g}.", limits.cold_tasks,
                     limits.cold_tasks == 1 ? "" : "s", limits.cold_tasks == 1 ? "s" : "",
                     limits.cold_tasks == 1 ? "its" : "their", limits.cold_tasks == 1 ? "" : "s",
                     limits.cold);
}

// Counts each task's samples and returns the sums of the limits.
template <typename State>
Limits TakeSamples(std::span<const TaskLoad> tasks, std::span<typename TaskStates<State>::Entry> states,
                   double min_samples) {
  Limits out;
  for (size_t i = 0; i < tasks.size(); ++i) {
    State& state = states[i].state;
    state.samples += tasks[i].measured() ? 1 : 0;
    if (state.samples >= min_samples) {
      out.warm += tasks[i].limit;
    } else {
      out.cold += tasks[i].limit;
      ++out.cold_tasks;
    }
  }
  return out;
}

struct Counted {
  uint32_t samples = 0;
};

// Stores each machine's usage / limits by window. A prediction is a statistic of these ratios, multiplied by the
// current limits.
class RatioPredictor : public PeakPredictor {
 public:
  RatioPredictor(double window_h, double min_samples) : window_h_(window_h), min_samples_(min_samples) {}

  void Observe(WindowId window, uint32_t machine, const MachineWindow& load) final {
    Machine& m = At(machines_, machine, [this] { return Machine(WindowsOf(window_h_)); });
    const auto states = m.tasks.Match(load.tasks, [] { return Counted(); });
    m.limits = TakeSamples<Counted>(load.tasks, states, min_samples_);
    if (load.measured()) {
      m.ratios.Put(window, static_cast<float>(load.usage / load.measured_limit));
    } else {
      m.ratios.Advance(window);
    }
  }

 protected:
  struct Machine {
    explicit Machine(size_t windows) : ratios(windows) {}
    double Peak(double ratio) const { return std::min(1.0, ratio) * limits.warm + limits.cold; }

    WindowRing ratios;
    TaskStates<Counted> tasks;
    Limits limits;
  };
  // Returns null for a machine that was never observed.
  const Machine* Find(uint32_t machine) const {
    return machine < machines_.size() ? &machines_[machine] : nullptr;
  }

 private:
  double window_h_, min_samples_;
  std::vector<Machine> machines_;
};

// Predicts mean + N standard deviations of the machine's usage / limits, times the current limits.
class NSigmaPredictor final : public RatioPredictor {
 public:
  explicit NSigmaPredictor(const NSigmaSettings& settings)
      : RatioPredictor(settings.window_h, settings.min_samples), n_(settings.n) {}

  double Predict(uint32_t machine) const override {
    const Machine* const m = Find(machine);
    if (m == nullptr) return 0;
    const Spread spread = SpreadOf(m->ratios.values());
    return spread.n < 2 ? m->limits.sum() : m->Peak(spread.mean + n_ * spread.deviation);
  }
  void Explain(uint32_t machine, Reason& reason) const override {
    reason.recommender = "n-sigma";
    const Machine* const m = Find(machine);
    if (m == nullptr) return;
    const Spread s = SpreadOf(m->ratios.values());
    reason.sentence = fmt::format(
        "Mean {:.4g} plus {:.4g} standard deviations of {:.4g} of the limits, {:.6g}, over {} windows.{}",
        s.mean, n_, s.deviation, m->limits.warm, s.n, ColdText(m->limits));
  }

 private:
  double n_;
};

// Predicts a percentile of the machine's usage / limits, times the current limits.
class MachinePercentilePredictor final : public RatioPredictor {
 public:
  explicit MachinePercentilePredictor(const MachinePercentileSettings& settings)
      : RatioPredictor(settings.window_h, settings.min_samples), settings_(settings) {}

  double Predict(uint32_t machine) const override {
    const Machine* const m = Find(machine);
    if (m == nullptr) return 0;
    std::vector<float> ratios = Ratios(*m);
    return ratios.empty() ? m->limits.sum() : m->Peak(PercentileOf(ratios));
  }
  void Explain(uint32_t machine, Reason& reason) const override {
    reason.recommender = "machine-percentile";
    const Machine* const m = Find(machine);
    if (m == nullptr) return;
    std::vector<float> ratios = Ratios(*m);
    const std::string share = ratios.empty() ? "not known" : fmt::format("{:.4g}", PercentileOf(ratios));
    reason.sentence = fmt::format(
        "The p{:.4g} of the machine's usage over its limits in {} windows of {:.4g} h is {}; limits {:.6g}.{}",
        settings_.percentile, ratios.size(), settings_.window_h, share, m->limits.warm, ColdText(m->limits));
  }

 private:
  static std::vector<float> Ratios(const Machine& m) {
    std::vector<float> out;
    std::ranges::copy_if(m.ratios.values(), std::back_inserter(out), [](float v) { return v >= 0; });
    return out;
  }
  double PercentileOf(std::vector<float>& ratios) const {
    return InterpolatedQuantile(ratios, settings_.percentile / 100);
  }

  MachinePercentileSettings settings_;
};

// Predicts the sum over the tasks of a percentile of the task's usage / limit, times the task's current limit.
class RcLikePredictor final : public PeakPredictor {
 public:
  explicit RcLikePredictor(const RcLikeSettings& settings) : settings_(settings) {}

  void Observe(WindowId window, uint32_t machine, const MachineWindow& load) override {
    Machine& m = At(machines_, machine, [] { return Machine(); });
    const auto states = m.tasks.Match(load.tasks, [this] { return Task(WindowsOf(settings_.window_h)); });
    for (size_t i = 0; i < load.tasks.size(); ++i) {
      const TaskLoad& t = load.tasks[i];
      Task& state = states[i].state;
      state.limit = t.limit;
      if (t.measured() && t.limit > 0) {
        state.ratios.Put(window, t.capped() / t.limit);
      } else {
        state.ratios.Advance(window);
      }
    }
  }
  double Predict(uint32_t machine) const override {
    Limits cold;
    return machine < machines_.size() ? Peak(machines_[machine], cold) : 0;
  }
  void Explain(uint32_t machine, Reason& reason) const override {
    reason.recommender = "rc-like";
    if (machine >= machines_.size()) return;
    Limits cold;
    const double peak = Peak(machines_[machine], cold);
    reason.sentence =
        fmt::format("The p{:.4g} of {} tasks over {:.4g} h add up to {:.6g}.{}", settings_.percentile,
                    machines_[machine].tasks.entries().size() - cold.cold_tasks, settings_.window_h,
                    peak - cold.cold, ColdText(cold));
  }

 private:
  struct Task {
    explicit Task(size_t windows) : ratios(windows) {}
    WindowRing ratios;
    double limit = 0;
  };
  struct Machine {
    TaskStates<Task> tasks;
  };

  double Peak(const Machine& m, Limits& cold) const {
    std::vector<float> values;
    double peak = 0;
    for (const auto& entry : m.tasks.entries()) {
      const Task& task = entry.state;
      values.clear();
      std::ranges::copy_if(task.ratios.values(), std::back_inserter(values), [](float v) { return v >= 0; });
      if (values.empty() || static_cast<double>(task.ratios.seen()) < settings_.min_samples) {
        cold.cold += task.limit;
        ++cold.cold_tasks;
      } else {
        peak += InterpolatedQuantile(values, settings_.percentile / 100) * task.limit;
      }
    }
    return peak + cold.cold;
  }

  RcLikeSettings settings_;
  std::vector<Machine> machines_;
};

// Predicts the machine's highest usage of some days times a factor. Adds a share of the amount by which the sum
// of the tasks' own maxima exceeds this highest usage.
class MachineMaxPredictor final : public PeakPredictor {
 public:
  explicit MachineMaxPredictor(const MachineMaxSettings& settings) : settings_(settings) {}

  void Observe(WindowId window, uint32_t machine, const MachineWindow& load) override {
    const size_t windows = WindowsOf(settings_.days * 24);
    Machine& m = At(machines_, machine, [windows] { return Machine(windows); });
    const auto states = m.tasks.Match(load.tasks, [windows] { return Task(windows); });
    m.limits = TakeSamples<Task>(load.tasks, states, settings_.min_samples);
    for (size_t i = 0; settings_.share > 0 && i < load.tasks.size(); ++i) {
      const TaskLoad& t = load.tasks[i];
      if (t.measured()) {
        states[i].state.usages.Put(window, t.capped());
      } else {
        states[i].state.usages.Advance(window);
      }
    }
    // Cold tasks are counted at their limits, so their usage must not be added.
    double usage = 0;
    for (size_t i = 0; i < load.tasks.size(); ++i) {
      const bool warm = states[i].state.samples >= settings_.min_samples;
      if (warm && load.tasks[i].measured()) usage += load.tasks[i].capped();
    }
    if (load.measured() && m.limits.warm > 0) {
      m.usages.Put(window, static_cast<float>(usage));
    } else {
      m.usages.Advance(window);
    }
  }
  double Predict(uint32_t machine) const override {
    return machine < machines_.size() ? PeakOf(machines_[machine]).peak : 0;
  }
  void Explain(uint32_t machine, Reason& reason) const override {
    reason.recommender = "machine-max";
    if (machine >= machines_.size()) return;
    const Machine& m = machines_[machine];
    const Parts parts = PeakOf(m);
    const std::string hours =
        settings_.hours <= 0 ? "" : fmt::format("the next {:.4g} h of ", settings_.hours);
    reason.sentence = fmt::format("{:.4g} times the highest usage of {}{:.4g} days, {:.6g}", settings_.factor,
                                  hours, settings_.days, parts.highest);
    if (settings_.share > 0) {
      reason.sentence += fmt::format(", plus {:.4g} of the {:.6g} that the tasks' own maxima exceed it by",
                                     settings_.share, parts.own - parts.highest);
    }
    reason.sentence += "." + ColdText(m.limits);
  }

 private:
  struct Task {
    explicit Task(size_t windows) : usages(windows) {}
    WindowRing usages;
    uint32_t samples = 0;
  };
  struct Machine {
    explicit Machine(size_t windows) : usages(windows) {}
    WindowRing usages;
    TaskStates<Task> tasks;
    Limits limits;
  };
  struct Parts {
    double peak = 0, highest = 0, own = 0;
  };

  double HighestOf(const WindowRing& usages) const {
    if (settings_.hours <= 0) return usages.Highest();
    return std::max(usages.HighestOfLast(WindowsOf(kRecentHours)),
                    usages.HighestOfHours(WindowsOf(settings_.hours), kWindowsPerDay,
                                          static_cast<size_t>(settings_.days)));
  }
  Parts PeakOf(const Machine& m) const {
    Parts out;
    out.highest = HighestOf(m.usages);
    if (out.highest < 0) return {m.limits.sum(), 0, 0};
    for (const auto& entry : m.tasks.entries()) {
      const Task& task = entry.state;
      if (settings_.share > 0 && task.samples >= settings_.min_samples)
        out.own += std::max(0.0F, task.usages.Highest());
    }
    const double peak =
        settings_.factor * out.highest + settings_.share * std::max(0.0, out.own - out.highest);
    out.peak = std::min(peak, m.limits.warm) + m.limits.cold;
    return out;
  }

  MachineMaxSettings settings_;
  std::vector<Machine> machines_;
};

class MaxPredictor final : public PeakPredictor {
 public:
  explicit MaxPredictor(std::vector<std::unique_ptr<PeakPredictor>> of) : of_(std::move(of)) {}

  void Observe(WindowId window, uint32_t machine, const MachineWindow& load) override {
    for (const auto& p : of_) p->Observe(window, machine, load);
  }
  void EndWindow(WindowId window) override {
    for (const auto& p : of_) p->EndWindow(window);
  }
  double Predict(uint32_t machine) const override { return Highest(machine)->Predict(machine); }
  void Explain(uint32_t machine, Reason& reason) const override {
    Reason of;
    Highest(machine)->Explain(machine, of);
    reason.recommender = "max";
    reason.sentence = fmt::format("The highest of {} is {}. {}", of_.size(), of.recommender, of.sentence);
  }

 private:
  // Returns the predictor with the highest prediction; the first predictor if predictions are equal.
  const PeakPredictor* Highest(uint32_t machine) const {
    const PeakPredictor* best = of_.front().get();
    double peak = best->Predict(machine);
    for (const auto& p : of_) {
      const double other = p->Predict(machine);
      if (other > peak) {
        best = p.get();
        peak = other;
      }
    }
    return best;
  }

  std::vector<std::unique_ptr<PeakPredictor>> of_;
};

}  // namespace

std::unique_ptr<PeakPredictor> NewLimitPredictor() { return std::make_unique<SharePredictor>("limit", 1); }
std::unique_ptr<DurablePredictor> NewBorgPredictor(const BorgSettings& settings) {
  return std::make_unique<SharePredictor>("borg-default", settings.share);
}
std::unique_ptr<PeakPredictor> NewNSigmaPredictor(const NSigmaSettings& settings) {
  return std::make_unique<NSigmaPredictor>(settings);
}
std::unique_ptr<PeakPredictor> NewMachinePercentilePredictor(const MachinePercentileSettings& settings) {
  return std::make_unique<MachinePercentilePredictor>(settings);
}
std::unique_ptr<PeakPredictor> NewRcLikePredictor(const RcLikeSettings& settings) {
  return std::make_unique<RcLikePredictor>(settings);
}
std::unique_ptr<PeakPredictor> NewMachineMaxPredictor(const MachineMaxSettings& settings) {
  return std::make_unique<MachineMaxPredictor>(settings);
}
std::unique_ptr<PeakPredictor> NewMaxPredictor(std::vector<std::unique_ptr<PeakPredictor>> of) {
  return std::make_unique<MaxPredictor>(std::move(of));
}

}  // namespace taut::brain
