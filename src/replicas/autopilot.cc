#include "replicas/autopilot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "replicas/stored_values.h"

namespace taut {
namespace {

constexpr double kMostTasks = 1e9;
constexpr size_t kMostWindows = 10'000'000;  // far more than any horizon has

// What is a whole number but for rounding is that number.
double CeilOf(double x) { return std::ceil(x - 1e-9 * std::max(1.0, std::fabs(x))); }

}  // namespace

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
  if (smoothed_ == 0) return decided_ = bounds_.Clamp(sample.count());
  int count = smoothed_;
  // Against the end of the decay, not against its next step.
  const double change = std::fabs(deferred_ - sample.count());
  if (change <= settings_.small_change * sample.count()) count = sample.count();
  decided_ = bounds_.Clamp(LimitGrowth(count, sample));
  if (decided_ != sample.count()) frozen_capacity_ = capacity_;
  return decided_;
}

void AutopilotReplicaPolicy::CloseWindow(int64_t window, int current) {
  const int64_t closed = *window_;
  const auto expire = [window](std::deque<Windowed>& values, double span_windows) {
    while (!values.empty() && static_cast<double>(window - values.front().window) > span_windows)
      values.pop_front();
  };
  if (samples_ > 0) averages_.push_back({closed, sum_ / samples_});
  sum_ = 0;
  samples_ = 0;
  expire(averages_, settings_.horizon_s / settings_.average_s);
  if (averages_.empty()) return;
  statistic_ = Statistic();
  const auto count_at = [&](double capacity) {
    return bounds_.Clamp(CeilOf(statistic_ / (settings_.target * capacity)));
  };
  // A limit that the vertical loop has changed is taken over only where the load asks for another count.
  int raw = count_at(frozen_capacity_);
  if (raw != current) raw = count_at(capacity_);
  while (!raw_.empty() && raw_.back().value <= raw) raw_.pop_back();
  raw_.push_back({window, static_cast<double>(raw)});
  expire(raw_, settings_.defer_downscaling_s / settings_.average_s);
  Smooth(window, window - closed, current);
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

void AutopilotReplicaPolicy::Smooth(int64_t /*window*/, int64_t windows_passed, int current) {
  deferred_ = raw_.front().value;
  // Where the count is not what the trajectory says, another program has changed it, or growth was limited.
  if (static_cast<int>(CeilOf(trajectory_)) != current) trajectory_ = current;
  if (deferred_ >= trajectory_ || settings_.decay_half_life_s == 0) {
    trajectory_ = deferred_;
  } else {
    const double passed_s = static_cast<double>(windows_passed) * settings_.average_s;
    trajectory_ = std::max(deferred_, trajectory_ * std::exp2(-passed_s / settings_.decay_half_life_s));
  }
  smoothed_ = std::max(1, static_cast<int>(CeilOf(trajectory_)));
}

int AutopilotReplicaPolicy::LimitGrowth(int count, const LoadSample& sample) const {
  if (count <= sample.count() || settings_.max_starting >= 1) return count;
  const double total = std::floor(sample.ready / (1 - settings_.max_starting) + 1e-9);
  const int most = std::max(static_cast<int>(std::min(total, 1e9)), sample.ready + 1);
  return std::max(sample.count(), std::min(count, most));
}

void AutopilotReplicaPolicy::Explain(Reason& reason) const {
  reason.recommender = "autopilot";
  if (held_ || smoothed_ == 0) {
    reason.sentence =
        fmt::format("{}, so the count stays {}.",
                    held_ ? "The load was not measured" : "No averaging window has closed yet", decided_);
    return;
  }
  reason.sentence = fmt::format(
      "The {} load of the last {:g} h is {:.4g}: {:g} tasks at {:.0f} % of {:.4g} each, {} after smoothing.",
      settings_.statistic == LoadStatistic::kMax ? "highest" : "95th percentile", settings_.horizon_s / 3600,
      statistic_, deferred_, settings_.target * 100, frozen_capacity_, decided_);
  reason.facts.push_back({"statistic of the load", statistic_, ""});
  reason.facts.push_back({"task capacity used", frozen_capacity_, ""});
}

// Windows count in averaging windows, whose length goes first.
void AutopilotReplicaPolicy::Save(ByteWriter& out) const {
  out.Put(settings_.average_s);
  PutOptional(window_, out);
  out.Put(sum_);
  out.Put(samples_);
  for (const std::deque<Windowed>* list : {&averages_, &raw_}) {
    out.PutVarint(list->size());
    for (const Windowed& w : *list) {
      out.Put(w.window);
      out.Put(w.value);
    }
  }
  for (const double v : {frozen_capacity_, capacity_, statistic_, deferred_, trajectory_}) out.Put(v);
  out.Put(smoothed_);
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
  for (std::deque<Windowed>* list : {&fresh.averages_, &fresh.raw_}) {
    const double most = list == &fresh.raw_ ? kMostTasks : std::numeric_limits<double>::max();
    for (size_t n = values.Size(kMostWindows); n > 0 && values.ok(); --n) {
      const int64_t at = values.Step();
      if (!list->empty() && at <= list->back().window)
        return absl::DataLossError("autopilot: unordered windows");
      list->push_back({at, values.Within(-most, most)});
    }
  }
  for (double* v : {&fresh.frozen_capacity_, &fresh.capacity_}) *v = values.Amount();
  fresh.statistic_ = values.Finite();
  for (double* v : {&fresh.deferred_, &fresh.trajectory_}) *v = values.Within(0.0, kMostTasks);
  for (int* v : {&fresh.smoothed_, &fresh.decided_}) *v = values.Count();
  fresh.held_ = values.Bool();
  if (absl::Status s = values.status("autopilot"); !s.ok()) return s;
  *this = std::move(fresh);
  return absl::OkStatus();
}

size_t AutopilotReplicaPolicy::state_bytes() const {
  return sizeof(*this) + (averages_.size() + raw_.size()) * sizeof(Windowed);
}

}  // namespace taut
