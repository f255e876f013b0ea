#include "server/control/replica_history.h"

#include <algorithm>
#include <memory>

#include "brain/fleet/live_replicas.h"
#include "brain/fleet/signal_builder.h"
#include "common/model/said_replicas.h"

namespace taut::server {
namespace {

// Sums over the windows of a column.
struct Sums {
  int windows = 0, with_capacity = 0, recommended = 0;
  std::optional<double> load, forecast_low, forecast_high;  // maxima over the column
  double tasks = 0, would_be = 0, capacity = 0, would_be_capacity = 0;
};

std::optional<double> MeanOf(double sum, int windows) {
  return windows > 0 ? std::optional(sum / windows) : std::nullopt;
}

class Walk {
 public:
  explicit Walk(const ReplicaHistoryQuery& query)
      : query_(query), policy_(*query.policy), replicas_(brain::LiveReplicas::For(*query.policy)) {
    // The policy continues from its previous recommendation, as if the recommendation were in force.
    policy_.mode = Mode::kObserve;
    use_ = query.size == brain::SizeUse::kOwners ? brain::SizeUse::kOwners : brain::SizeUse::kWouldBe;
    const int64_t windows = std::max(1, query.to.index - query.from.index);
    windows_each_ = static_cast<int32_t>((windows + query.columns - 1) / query.columns);
    sums_.resize(static_cast<size_t>((windows + windows_each_ - 1) / windows_each_));
  }

  void Take(const Signal& signal) {
    const SaidReplicas said = SaidOf(signal.named);
    if (signal.window >= query_.to || (signal.tasks.empty() && !said.known())) return;
    const bool of_cpu =
        replicas_ == nullptr || (replicas_->figures().is_of_cpu && replicas_->policy().reads_load());
    if (signal.tasks.empty() && of_cpu) return;  // the usage of tasks that are not measured is unknown
    const int tasks = said.known() ? said.count : static_cast<int>(signal.tasks.size());
    if (signal.owner_limit.has_value() && *signal.owner_limit > 0) owners_ = signal.owner_limit;
    if (replicas_ != nullptr) replicas_->Observe(signal, signal.owner_limit, use_, nullptr, {said});
    if (signal.window >= query_.from) Add(signal.window, LoadOf(signal), tasks);
    if (replicas_ == nullptr) return;
    (void)replicas_->Decide(policy_, signal.window.next().start_s());
    in_force_ = replicas_->figures().recommended;
    if (const std::optional<brain::LoadBand> band = replicas_->policy().Forecast(); band.has_value())
      AddForecast(*band);
  }

  void TakeMemory(const Signal& signal) {
    if (replicas_ != nullptr && signal.window < query_.to)
      replicas_->ObserveMemory(signal, signal.owner_limit);
  }

  ReplicaHistory Result() const {
    ReplicaHistory out;
    out.step_s = int64_t{windows_each_} * kWindowSeconds;
    out.is_of_cpu = replicas_ == nullptr || replicas_->figures().is_of_cpu;
    out.totals = totals_;
    for (size_t i = 0; i < sums_.size(); ++i) {
      const Sums& s = sums_[i];
      ReplicaColumn& column = out.columns.emplace_back();
      column.start_s = query_.from.start_s() + static_cast<int64_t>(i) * out.step_s;
      column.load = s.load;
      column.forecast_low = s.forecast_low;
      column.forecast_high = s.forecast_high;
      column.tasks = MeanOf(s.tasks, s.windows);
      column.would_be = MeanOf(s.would_be, s.recommended);
      column.capacity = MeanOf(s.capacity, s.with_capacity);
      column.would_be_capacity = MeanOf(s.would_be_capacity, s.recommended);
    }
    return out;
  }

 private:
  void AddForecast(const brain::LoadBand& band) {
    // The policy receives the load of a window at the window's end.
    const WindowId window{WindowId::Of(band.at).index - 1};
    if (window < query_.from || window >= query_.to) return;
    Sums& s = SumsOf(window);
    s.forecast_low = std::max(s.forecast_low.value_or(0), band.low);
    s.forecast_high = std::max(s.forecast_high.value_or(0), band.high);
  }
  Sums& SumsOf(WindowId window) {
    return sums_[static_cast<size_t>((window.index - query_.from.index) / windows_each_)];
  }
  std::optional<double> LoadOf(const Signal& signal) const {
    if (replicas_ != nullptr) return replicas_->figures().load;
    double load = 0;
    for (const TaskUsage& t : signal.tasks) load += t.mean;
    return load;
  }
  // Called after the policy has observed the window; in_force_ is still the policy's previous recommendation.
  void Add(WindowId window, std::optional<double> load, int tasks) {
    Sums& s = SumsOf(window);
    ++s.windows;
    if (load.has_value()) s.load = std::max(s.load.value_or(0), *load);
    s.tasks += tasks;
    if (replicas_ == nullptr) return;
    const brain::ReplicaFigures figures = replicas_->figures();
    if (!figures.capacity.has_value()) return;
    const double would_be_each = *figures.capacity * policy_.replicas.max_utilization;
    const double each =
        figures.is_of_cpu ? owners_.value_or(0) * policy_.replicas.max_utilization : would_be_each;
    ++s.with_capacity;
    s.capacity += tasks * each;
    if (!in_force_.has_value()) return;
    ++s.recommended;
    s.would_be += *in_force_;
    s.would_be_capacity += *in_force_ * would_be_each;
    if (load.has_value()) AddToTotals(*load, tasks, each, would_be_each);
  }
  void AddToTotals(double load, int tasks, double each, double would_be_each) {
    constexpr double kHours = double{kWindowSeconds} / brain::kHour;
    ++totals_.windows;
    totals_.task_hours += tasks * kHours;
    totals_.would_be_task_hours += *in_force_ * kHours;
    totals_.overloaded += load > tasks * each ? 1 : 0;
    totals_.would_be_overloaded += load > *in_force_ * would_be_each ? 1 : 0;
    if (totals_.windows > 1) {
      totals_.changes += tasks != last_tasks_ ? 1 : 0;
      totals_.would_be_changes += *in_force_ != last_would_be_ ? 1 : 0;
    }
    last_tasks_ = tasks;
    last_would_be_ = *in_force_;
  }

  const ReplicaHistoryQuery& query_;
  brain::JobPolicy policy_;
  std::unique_ptr<brain::LiveReplicas> replicas_;  // replayed policy; null: the job has no policy
  brain::SizeUse use_ = brain::SizeUse::kOwners;
  std::optional<double> owners_;  // last known CPU limit of a task
  int32_t windows_each_ = 1;
  std::vector<Sums> sums_;
  ReplicaTotals totals_;
  std::optional<int> in_force_;  // number of tasks in the next window
  int last_tasks_ = 0, last_would_be_ = 0;
};

// Returns the windows of a day in order. The result includes windows without measured tasks, which may have a load
// and a number of tasks from a series.
std::vector<Signal> WindowsOf(const JobDay& day, std::span<const Signal> measured) {
  std::vector<Signal> out(measured.begin(), measured.end());
  for (const JobWindow& w : day.windows) {
    if (w.num_tasks > 0) continue;
    Signal& idle =
        out.emplace_back(Signal{.window = w.window, .buckets = {}, .tasks = {}, .owner_limit = {}});
    if (w.load >= 0) idle.load = w.load;
    idle.named = std::span(day.signals).subspan(w.first_signal, w.num_signals);
  }
  std::ranges::stable_sort(out, {}, [](const Signal& s) { return s.window.index; });
  return out;
}

}  // namespace

ReplicaHistory ReplicasOverTime(const ReplicaHistoryQuery& query, std::span<const JobDay> days) {
  Walk walk(query);
  brain::DaySignals cpu, memory;
  for (const JobDay& day : days) {
    cpu.Build(day, Resource::kCpu);
    memory.Build(day, Resource::kMemory, query.policy->memory_signal);
    // CPU precedes memory, as when windows close.
    auto next = memory.signals().begin();
    const auto end = memory.signals().end();
    for (const Signal& signal : WindowsOf(day, cpu.signals())) {
      for (; next != end && next->window < signal.window; ++next) walk.TakeMemory(*next);
      walk.Take(signal);
    }
    for (; next != end; ++next) walk.TakeMemory(*next);
  }
  return walk.Result();
}

}  // namespace taut::server
