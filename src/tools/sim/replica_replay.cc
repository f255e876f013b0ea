#include "tools/sim/replica_replay.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "brain/replicas/policies.h"
#include "brain/replicas/silence.h"
#include "brain/rollout/replica_gate.h"
#include "common/base/random.h"
#include "common/model/counted.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

// The tasks of one job: ready tasks, and starting tasks in the order of their starts.
class TaskPool {
 public:
  TaskPool(int ready, const ReplicaReplayOptions& options)
      : ready_(ready),
        startup_s_(options.settings.startup_s),
        sigma_(options.startup_sigma),
        rng_(options.seed) {}

  int ready() const { return ready_; }
  int starting() const { return static_cast<int>(ready_at_s_.size()); }
  int count() const { return ready_ + starting(); }

  void FinishStarts(double now_s) {
    ready_ += static_cast<int>(std::erase_if(ready_at_s_, [now_s](double at) { return at <= now_s; }));
  }
  // Starts or stops tasks until `count` tasks exist. The most recently started tasks are stopped first. Returns
  // the number of started tasks.
  int SetCount(int count, double now_s) {
    int starts = 0;
    for (; this->count() < count; ++starts)
      ready_at_s_.push_back(now_s + startup_s_ * (sigma_ > 0 ? std::exp(sigma_ * rng_.Normal()) : 1));
    while (this->count() > count) {
      if (ready_at_s_.empty()) {
        --ready_;
      } else {
        ready_at_s_.pop_back();
      }
    }
    return starts;
  }

 private:
  int ready_;
  const double startup_s_, sigma_;
  Rng rng_;
  std::vector<double> ready_at_s_;
};

int Sign(int x) { return (x > 0) - (x < 0); }

class ReplicaReplay {
 public:
  ReplicaReplay(const LoadSeries& series, const ReplicaReplayOptions& options, brain::ReplicaPolicy& policy,
                const OnReplicaStep& on_step)
      : series_(series),
        options_(options),
        policy_(policy),
        on_step_(on_step),
        pool_(FirstCount(), options),
        step_s_(static_cast<double>(series.step_s)),
        decide_steps_(static_cast<size_t>(
            std::max<int64_t>(1, (options.decide_every_s + series.step_s - 1) / series.step_s))) {}

  ReplicaScore Run() {
    for (size_t i = 0; i < series_.load.size(); ++i) Step(i);
    CloseDay();
    return score_;
  }

 private:
  // Returns the number of tasks that the first load of the job needs.
  int FirstCount() const {
    for (size_t i = 0; i < series_.load.size(); ++i) {
      if (series_.At(i).has_value()) return NeededTasks(*series_.At(i), options_);
    }
    return options_.settings.bounds.Clamp(1);
  }

  void Step(size_t i) {
    const int64_t now_s = series_.time_s(i);
    const bool measured = now_s - series_.start_s >= options_.warmup_s;
    pool_.FinishStarts(static_cast<double>(now_s));
    const std::optional<double> load = series_.At(i);
    // Policies decide from the offered load: the load of the step plus the backlog.
    const double waiting = backlog_;
    if (load.has_value()) Process(*load, measured);
    if (measured) {
      if (const int64_t day = FloorDiv(now_s, kDaySeconds); day != day_) {
        CloseDay();
        day_ = day;
        changed_ = false;
        ++score_.days;
      }
      ++score_.steps;
      score_.absent_steps += load.has_value() ? 0 : 1;
      score_.measured_s += step_s_;
      score_.task_s += pool_.count() * step_s_;
      score_.clairvoyant_task_s += need_ * step_s_;
    }
    const int ready = pool_.ready(), starting = pool_.starting();
    int decided = pool_.count();
    const bool due = i % decide_steps_ == 0;
    if (due) decided = Decide(load, waiting, now_s, measured);
    if (measured && held_) score_.held_s += step_s_;
    if (on_step_)
      on_step_({now_s, load, ready, starting, decided, due ? &policy_ : nullptr,
                due ? waits_ : std::string_view()});
  }

  // Processes the load of a step with the ready tasks.
  void Process(double load, bool measured) {
    const double capacity = pool_.ready() * options_.capacity;
    const double offered = load + backlog_;
    const double left = std::max(0.0, offered - capacity);
    if (options_.model == OverloadModel::kQueue) backlog_ = left;
    const int need = NeededTasks(load, options_);
    if (measured) {
      score_.load += load;
      score_.overloaded_steps += offered > options_.settings.max_utilization * capacity * (1 + 1e-12) ? 1 : 0;
      if (options_.model == OverloadModel::kShed) {
        score_.lost += left;
      } else if (left > 0) {
        const double delay_s = left / std::max(capacity, options_.capacity) * step_s_;
        score_.delay_s += delay_s;
        score_.max_delay_s = std::max(score_.max_delay_s, delay_s);
      }
      MeasureElasticity(need);
    }
    need_ = need;
    supply_ = pool_.ready();
  }
  void MeasureElasticity(int need) {
    const int supply = pool_.ready();
    const double demand = std::max(need, 1);
    score_.under += std::max(need - supply, 0) / demand;
    score_.over += std::max(supply - need, 0) / demand;
    score_.under_steps += need > supply ? 1 : 0;
    score_.over_steps += supply > need ? 1 : 0;
    score_.unstable_steps += Sign(supply - supply_) != Sign(need - need_) ? 1 : 0;
  }

  // Returns the values of the policy's signals() at `now_s`. The span is valid until the next call.
  std::span<const double> SignalsAt(int64_t now_s) {
    const auto step = static_cast<size_t>((now_s - series_.start_s) / series_.step_s);
    signals_.clear();
    for (const std::string& name : policy_.signals()) {
      const auto its = std::ranges::find(series_.signals, name, &SignalSeries::name);
      signals_.push_back(its == series_.signals.end() ? LoadSeries::kAbsentLoad : its->values[step]);
    }
    return signals_;
  }

  int Decide(std::optional<double> load, double waiting, int64_t now_s, bool measured) {
    brain::LoadSample sample{Timestamp::FromSeconds(now_s), load, options_.capacity, pool_.ready(),
                             pool_.starting()};
    if (load.has_value()) *sample.load += waiting;
    sample.load = brain::UsableLoad(sample.load, options_.capacity);
    sample.signals = SignalsAt(now_s);
    sample.analogs = options_.fleet != nullptr ? options_.fleet->At(now_s) : nullptr;
    const int before = pool_.count();
    const int decided = ThroughGate(policy_.Decide(sample), now_s);
    held_ = !policy_.Missing(sample).empty() || !policy_.NoNumber().empty();
    const int starts = pool_.SetCount(decided, static_cast<double>(now_s));
    if (measured) {
      score_.starts += static_cast<uint64_t>(starts);
      score_.changes += decided != before ? 1 : 0;
      changed_ = changed_ || decided != before;
    }
    return decided;
  }
  // Returns the number of tasks that the gate orders for a recommendation of `recommended` tasks.
  int ThroughGate(int recommended, int64_t now_s) {
    if (!options_.managed.has_value()) return recommended;
    const int running = pool_.count();
    brain::NoteRunning({.running = running, .started = 0, .startup_windows = 1, .now_s = now_s}, gate_);
    brain::Verdict verdict = brain::DecideReplicas(
        *options_.managed, {.now_s = now_s, .running = running, .recommended = recommended}, gate_);
    waits_ = verdict.kind.has_value() ? "" : std::move(verdict.sentence);
    return gate_.in_force.value_or(running);
  }
  void CloseDay() {
    if (score_.days > 0) score_.days_without_change += changed_ ? 0 : 1;
  }

  const LoadSeries& series_;
  const ReplicaReplayOptions& options_;
  brain::ReplicaPolicy& policy_;
  const OnReplicaStep& on_step_;
  TaskPool pool_;
  const double step_s_;
  const size_t decide_steps_;
  ReplicaScore score_;
  std::vector<double> signals_;  // scratch memory, reused for each decision
  brain::ReplicaGateState gate_;
  std::string waits_;  // reason why the gate delays the last decision
  double backlog_ = 0;
  int need_ = 0, supply_ = 0;  // numbers of tasks in the last step with a load
  int64_t day_ = INT64_MIN;
  bool changed_ = false;
  bool held_ = false;  // true if the last decision lacked a load, a signal or a result
};

class ClairvoyantPolicy final : public brain::ReplicaPolicy {
 public:
  ClairvoyantPolicy(const LoadSeries& series, const ReplicaReplayOptions& options)
      : series_(&series), options_(&options) {}

  int Decide(const brain::LoadSample& sample) override {
    const int64_t step = (sample.at.seconds() - series_->start_s) / series_->step_s;
    const auto startup =
        static_cast<int64_t>(std::ceil(options_->settings.startup_s / static_cast<double>(series_->step_s)));
    // A task that is started at the next decision is ready `startup` steps later.
    const int64_t every =
        std::max<int64_t>(1, (options_->decide_every_s + series_->step_s - 1) / series_->step_s);
    decided_ = options_->settings.bounds.min;
    const auto end = static_cast<int64_t>(series_->load.size());
    for (int64_t i = step + 1; i < std::min(end, step + std::max<int64_t>(startup, 1) + every); ++i) {
      if (const auto load = series_->At(static_cast<size_t>(i)))
        decided_ = std::max(decided_, NeededTasks(*load, *options_));
    }
    return decided_ = options_->settings.bounds.Clamp(decided_);
  }
  bool reads_load() const override { return false; }
  void Explain(Reason& reason) const override {
    reason.recommender = "clairvoyant";
    reason.sentence = fmt::format("The load will need {}.", Counted(static_cast<uint64_t>(decided_), "task"));
  }
  std::unique_ptr<brain::ReplicaPolicy> Clone() const override {
    return std::make_unique<ClairvoyantPolicy>(*this);
  }
  void Save(ByteWriter& out) const override { out.Put(decided_); }
  absl::Status Load(ByteReader& in) override {
    decided_ = in.Get<int>();
    return in.status("clairvoyant");
  }
  size_t state_bytes() const override { return sizeof(*this); }

 private:
  const LoadSeries* series_;
  const ReplicaReplayOptions* options_;
  int decided_ = 0;
};

}  // namespace

void ReplicaScore::Add(const ReplicaScore& o) {
  steps += o.steps;
  absent_steps += o.absent_steps;
  measured_s += o.measured_s;
  task_s += o.task_s;
  clairvoyant_task_s += o.clairvoyant_task_s;
  overloaded_steps += o.overloaded_steps;
  load += o.load;
  lost += o.lost;
  delay_s += o.delay_s;
  max_delay_s = std::max(max_delay_s, o.max_delay_s);
  held_s += o.held_s;
  starts += o.starts;
  changes += o.changes;
  days += o.days;
  days_without_change += o.days_without_change;
  under += o.under;
  over += o.over;
  under_steps += o.under_steps;
  over_steps += o.over_steps;
  unstable_steps += o.unstable_steps;
}

int NeededTasks(double load, const ReplicaReplayOptions& options) {
  const double tasks = load / (options.settings.max_utilization * options.capacity);
  return options.settings.bounds.Clamp(std::ceil(tasks - 1e-9));
}

absl::StatusOr<ReplicaScore> ReplayReplicas(const LoadSeries& series, const ReplicaReplayOptions& options,
                                            brain::ReplicaPolicy& policy, const OnReplicaStep& on_step) {
  const ReplicaScore score = ReplicaReplay(series, options, policy, on_step).Run();
  if (score.load_steps() > 0) return score;
  return absl::InvalidArgumentError(fmt::format(
      "after {:.3g} days of warm-up nothing is left of the load of \"{}\" ({:.3g} days)",
      static_cast<double>(options.warmup_s) / kDaySeconds, series.job,
      static_cast<double>(series.load.size()) * static_cast<double>(series.step_s) / kDaySeconds));
}

std::unique_ptr<brain::ReplicaPolicy> NewClairvoyantPolicy(const LoadSeries& series,
                                                           const ReplicaReplayOptions& options) {
  return std::make_unique<ClairvoyantPolicy>(series, options);
}

absl::StatusOr<ReplicaScore> ReplayByName(const LoadSeries& series, const ReplicaReplayOptions& options,
                                          std::string_view policy, const OnReplicaStep& on_step) {
  if (policy == "clairvoyant") {
    // The clairvoyant policy is the reference for the other policies, so no gate applies to it.
    ReplicaReplayOptions free = options;
    free.managed.reset();
    return ReplayReplicas(series, free, *NewClairvoyantPolicy(series, free), on_step);
  }
  const absl::StatusOr<const brain::ReplicaPolicyInfo*> info = brain::FindReplicaPolicy(policy);
  if (!info.ok()) return info.status();
  brain::ReplicaSettings settings = options.settings;
  settings.step_s = static_cast<double>(std::max<int64_t>(
      series.step_s, (options.decide_every_s + series.step_s - 1) / series.step_s * series.step_s));
  ReplicaReplayOptions gated = options;
  if (gated.managed.has_value()) gated.managed->replica_policy = (*info)->name;
  return ReplayReplicas(
      series, gated,
      *brain::WithSafeCount(brain::NewReplicaPolicy(**info, settings), settings.function.silent_s), on_step);
}

}  // namespace taut::tools
