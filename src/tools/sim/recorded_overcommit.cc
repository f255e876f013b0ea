#include "tools/sim/recorded_overcommit.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "brain/overcommit/predictors.h"
#include "tools/sim/machine_days.h"
#include "tools/sim/placed_tasks.h"
#include "tools/sim/recorded_counts.h"

namespace taut::tools {
namespace {

class RecordedReplay {
 public:
  RecordedReplay(DaySource& source, const brain::RecordedMachines& machines, Resource resource,
                 const OvercommitOptions& options, const OvercommitHooks& hooks)
      : source_(source),
        machines_(machines),
        resource_(resource),
        options_(options),
        hooks_(hooks),
        days_(machines, resource),
        every_(static_cast<int32_t>(options.every_s / kWindowSeconds)),
        horizon_(static_cast<int32_t>(options.horizon_s() / kWindowSeconds)),
        counts_(source, machines, resource),
        last_window_(machines.size(), INT32_MIN) {}

  absl::StatusOr<OvercommitResult> Run() {
    if (absl::Status s = Prepare(); !s.ok()) return s;
    const absl::StatusOr<bool> whole =
        days_.Read(source_, hooks_.on_progress, hooks_.should_stop, [this] { Advance(); });
    if (!whole.ok()) return whole.status();
    if (!*whole) {
      result_.partial = true;
      return Finish();
    }
    end_ = LastWindow() + 1;
    Advance();
    return Finish();
  }

 private:
  absl::Status Prepare() {
    const absl::StatusOr<size_t> span = SpanOfDays(source_.days());
    if (!span.ok()) return span.status();
    const size_t days = *span;
    if (absl::Status s = CheckOvercommitTimes(days * kWindowsPerDay, options_); !s.ok()) return s;
    absl::StatusOr<std::vector<std::unique_ptr<brain::PeakPredictor>>> made = MakePredictors(options_);
    if (!made.ok()) return made.status();
    predictors_ = *std::move(made);
    result_.rows = EmptyRows(options_, 1, machines_.size());
    result_.resource = resource_;
    result_.of_recorded = true;
    at_ = source_.days().front() * kWindowsPerDay;
    return absl::OkStatus();
  }

  int32_t LastWindow() const {
    int32_t last = days_.final_until() - 1;
    while (last >= at_ && !days_.Any(last)) --last;
    return last;
  }

  // Scores and observes the windows with a final horizon, and, at the end of the input, all remaining windows. A
  // prediction cannot be scored earlier, because later rows may add tasks to its horizon.
  void Advance() {
    const int64_t ready = end_ != INT32_MAX ? end_ : int64_t{days_.final_until()} - horizon_;
    for (; at_ < ready; ++at_) {
      if (!begun_ && !days_.Any(at_)) continue;
      if (!std::exchange(begun_, true)) first_ = at_;
      const int32_t since = at_ - first_;
      const bool horizon_known = end_ == INT32_MAX || at_ + horizon_ <= end_;
      if (since > 0 && int64_t{since} * kWindowSeconds >= options_.warmup_s && since % every_ == 0 &&
          horizon_known)
        Score();
      Observe();
      days_.DropBefore(at_);
    }
  }

  void Score() {
    for (uint32_t m = 0; m < machines_.size(); ++m) {
      if (last_window_[m] != at_ - 1) continue;
      const std::span<const brain::TaskLoad> tasks = days_.Tasks(at_ - 1, m);
      const double oracle = Oracle(m, tasks);
      if (oracle < 0) {
        ++result_.unscored;
        continue;
      }
      double limit = 0;
      for (const brain::TaskLoad& t : tasks) limit += t.limit;
      const brain::MachineCapacity* capacity = counts_.Capacity(m, at_);
      for (size_t r = 0; r < predictors_.size(); ++r) {
        const double predicted = predictors_[r] == nullptr ? oracle : predictors_[r]->Predict(m);
        OvercommitResult::Row& row = result_.rows[r];
        for (OvercommitScore* score : {&row.total, &row.by_placement[0], &row.by_machine[m]}) {
          score->Add(limit, predicted, oracle);
          if (capacity == nullptr) continue;
          score->capacity += capacity->of(static_cast<size_t>(resource_));
          score->predicted_of_capacity += predicted;
        }
        if (!hooks_.on_decision) continue;
        hooks_.on_decision({int64_t{at_} * kWindowSeconds, resource_, 0, m, m, row.predictor,
                            machines_.name(m), limit, predicted, oracle, predictors_[r].get()});
      }
    }
  }

  // Returns the recorded peak of the horizon; negative if fewer than half of its windows were measured.
  double Oracle(uint32_t machine, std::span<const brain::TaskLoad> tasks) const {
    double peak = -1;
    int32_t measured = 0;
    for (int32_t w = at_; w < at_ + horizon_; ++w) {
      if (!days_.Any(w)) continue;
      double usage = 0, limit = 0, measured_limit = 0;
      auto own = tasks.begin();
      for (const brain::TaskLoad& then : days_.Tasks(w, machine)) {
        while (own != tasks.end() && own->task < then.task) ++own;
        if (own == tasks.end()) break;
        if (own->task != then.task) continue;
        limit += own->limit;
        if (!then.measured()) continue;
        measured_limit += own->limit;
        usage += std::min(then.usage, own->limit);
      }
      if (measured_limit < limit / 2) continue;
      ++measured;
      peak = std::max(peak, usage);
    }
    return 2 * measured >= horizon_ ? peak : -1;
  }

  void Observe() {
    const WindowId window{at_};
    for (uint32_t m = 0; m < machines_.size(); ++m) {
      const std::span<const brain::TaskLoad> tasks = days_.Tasks(at_, m);
      if (tasks.empty()) continue;
      last_window_[m] = at_;
      const brain::MachineWindow sums = Sum(tasks);
      for (const auto& p : predictors_) {
        if (p != nullptr) p->Observe(window, m, sums);
      }
      counts_.Count(m, at_, tasks, sums);
    }
    for (const auto& p : predictors_) {
      if (p != nullptr) p->EndWindow(window);
    }
  }

  absl::StatusOr<OvercommitResult> Finish() {
    result_.tasks = counts_.tasks();
    result_.machines =
        static_cast<size_t>(std::ranges::count_if(last_window_, [](int32_t w) { return w != INT32_MIN; }));
    absl::StatusOr<RecordedUse> use = counts_.Take(days_, !result_.partial);
    if (!use.ok()) return use.status();
    result_.recorded = *std::move(use);
    return std::move(result_);
  }

  DaySource& source_;
  const brain::RecordedMachines& machines_;
  const Resource resource_;
  const OvercommitOptions& options_;
  const OvercommitHooks& hooks_;
  MachineDays days_;
  const int32_t every_, horizon_;
  RecordedCounts counts_;
  int32_t at_ = 0, first_ = 0, end_ = INT32_MAX;  // end_ is set at the end of the input
  bool begun_ = false;
  std::vector<int32_t> last_window_;                               // last window with tasks, by machine
  std::vector<std::unique_ptr<brain::PeakPredictor>> predictors_;  // predictors by row; null: the oracle
  OvercommitResult result_;
};

}  // namespace

absl::StatusOr<OvercommitResult> ReplayRecordedOvercommit(DaySource& source,
                                                          const brain::RecordedMachines& machines,
                                                          Resource resource, const OvercommitOptions& options,
                                                          const OvercommitHooks& hooks) {
  return RecordedReplay(source, machines, resource, options, hooks).Run();
}

}  // namespace taut::tools
