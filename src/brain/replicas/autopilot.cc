#include "brain/replicas/autopilot.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "brain/replicas/ceil_of.h"
#include "brain/replicas/stored_values.h"
#include "fmt/format.h"

namespace taut::brain {
int AutopilotReplicaPolicy::Decide(const LoadSample& sample) {
  const auto length_us = static_cast<int64_t>(settings_.average_s * kMicrosPerSecond);
  const int64_t window = FloorDiv(sample.at.us, length_us);
  capacity_ = sample.capacity;
  if (frozen_capacity_ == 0) frozen_capacity_ = capacity_;
  held_ = !sample.load.has_value();
  if (window_.has_value() && window > *window_) CloseWindow(window, sample.count());
  if (!window_.has_value() || window > *window_) window_ = window;
  if (held_) return decided_ = bounds_.Clamp(sample.count());
  sum_ += *sample.load;
  ++samples_;
  if (smoother_.empty()) return decided_ = bounds_.Clamp(sample.count());
  decided_ = bounds_.Clamp(smoother_.Count(sample));
  if (decided_ != sample.count()) frozen_capacity_ = capacity_;
  return decided_;
}

void AutopilotReplicaPolicy::CloseWindow(int64_t window, int current) {
  const int64_t closed = *window_;
  if (samples_ > 0) averages_.push_back({closed, sum_ / samples_});
  sum_ = 0;
  samples_ = 0;
  const double horizon_windows = settings_.horizon_s / settings_.average_s;
  while (!averages_.empty() && static_cast<double>(window - averages_.front().window) > horizon_windows)
    averages_.pop_front();
  if (averages_.empty()) return;
  statistic_ = Statistic();
  const auto count_at = [&](double capacity) {
    return bounds_.Clamp(CeilOf(statistic_ / (settings_.target * capacity)));
  };
  // A capacity that vertical scaling has changed applies only if the load requires another count at the old
  // capacity. Otherwise each change of a limit would change the number of tasks.
  int raw = count_at(frozen_capacity_);
  if (raw != current) raw = count_at(capacity_);
  smoother_.Push(window, window - closed, raw, current);
}

double AutopilotReplicaPolicy::Statistic() const {
  std::vector<double> values;
  values.reserve(averages_.size());
  for (const Windowed& w : averages_) values.push_back(w.value);
  size_t rank = values.size() - 1;
  if (settings_.statistic == LoadStatistic::kP95)
    rank = static_cast<size_t>(CeilOf(0.95 * static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(rank), values.end());
  return values[rank];
}

void AutopilotReplicaPolicy::Explain(Reason& reason) const {
  reason.recommender = "autopilot";
  if (held_ || smoother_.empty()) {
    reason.sentence =
        fmt::format("{}, so the count stays {}.",
                    held_ ? "The load was not measured" : "No averaging window has closed yet", decided_);
    return;
  }
  reason.sentence = fmt::format(
      "The {} load of the last {:g} h is {:.4g}: {:g} tasks at {:.0f} % of {:.4g} each, {} after smoothing.",
      settings_.statistic == LoadStatistic::kMax ? "highest" : "95th percentile", settings_.horizon_s / 3600,
      statistic_, smoother_.deferred(), settings_.target * 100, frozen_capacity_, decided_);
  reason.facts.push_back({"statistic of the load", statistic_, ""});
  reason.facts.push_back({"task capacity used", frozen_capacity_, ""});
}

// The length of the averaging window is saved first, and checked by Load, because window numbers depend on it.
void AutopilotReplicaPolicy::Save(ByteWriter& out) const {
  out.Put(settings_.average_s);
  PutOptional(window_, out);
  out.Put(sum_);
  out.Put(samples_);
  out.PutVarint(averages_.size());
  for (const Windowed& w : averages_) {
    out.Put(w.window);
    out.Put(w.value);
  }
  smoother_.SaveRecommendations(out);
  for (const double v : {frozen_capacity_, capacity_, statistic_}) out.Put(v);
  smoother_.SaveFigures(out);
  out.Put(decided_);
  out.Put(static_cast<uint8_t>(held_));
}

absl::Status AutopilotReplicaPolicy::Load(ByteReader& in) {
  StoredValues values(in);
  AutopilotReplicaPolicy fresh(settings_, bounds_);
  if (values.Finite() != settings_.average_s && !in.failed())
    return absl::InvalidArgumentError("autopilot: the state has another averaging window");
  fresh.window_ = values.OptionalStep();
  fresh.sum_ = values.Finite();
  fresh.samples_ = values.Count();
  for (size_t n = values.Size(kMostStoredWindows); n > 0 && values.ok(); --n) {
    const int64_t at = values.Step();
    if (!fresh.averages_.empty() && at <= fresh.averages_.back().window)
      return absl::DataLossError("autopilot: unordered windows");
    fresh.averages_.push_back({at, values.Finite()});
  }
  fresh.smoother_.LoadRecommendations(values);
  for (double* v : {&fresh.frozen_capacity_, &fresh.capacity_}) *v = values.Amount();
  fresh.statistic_ = values.Finite();
  fresh.smoother_.LoadFigures(values);
  fresh.decided_ = values.Count();
  fresh.held_ = values.Bool();
  if (absl::Status s = values.status("autopilot"); !s.ok()) return s;
  *this = std::move(fresh);
  return absl::OkStatus();
}

size_t AutopilotReplicaPolicy::state_bytes() const {
  return sizeof(*this) + averages_.size() * sizeof(Windowed) + smoother_.heap_bytes();
}

}  // namespace taut::brain
