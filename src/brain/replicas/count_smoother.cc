#include "brain/replicas/count_smoother.h"

#include <algorithm>
#include <cmath>

#include "brain/replicas/ceil_of.h"

namespace taut::brain {
void CountSmoother::Push(int64_t window, int64_t windows_passed, int raw, int current) {
  while (!raw_.empty() && raw_.back().count <= raw) raw_.pop_back();
  if (raw_.empty() || raw_.back().window < window) raw_.push_back({window, static_cast<double>(raw)});
  const double span_windows = settings_.defer_downscaling_s / settings_.average_s;
  while (static_cast<double>(window - raw_.front().window) > span_windows) raw_.pop_front();
  deferred_ = raw_.front().count;
  // The running count differs from the trajectory after another program changed the count or growth was limited.
  // The trajectory then starts from the running count.
  if (static_cast<int>(CeilOf(trajectory_)) != current) trajectory_ = current;
  if (deferred_ >= trajectory_ || settings_.decay_half_life_s == 0) {
    trajectory_ = deferred_;
  } else {
    const double passed_s = static_cast<double>(windows_passed) * settings_.average_s;
    trajectory_ = std::max(deferred_, trajectory_ * std::exp2(-passed_s / settings_.decay_half_life_s));
  }
  smoothed_ = std::max(1, static_cast<int>(CeilOf(trajectory_)));
}

int CountSmoother::Count(const LoadSample& sample) const {
  // The comparison uses the final decayed value, because a long decay has many small steps.
  const double change = std::fabs(deferred_ - sample.count());
  const bool small = change <= settings_.small_change * sample.count();
  return LimitGrowth(small ? sample.count() : smoothed_, sample);
}

int CountSmoother::LimitGrowth(int count, const LoadSample& sample) const {
  if (count <= sample.count() || settings_.max_starting >= 1) return count;
  const double total = std::floor(sample.ready / (1 - settings_.max_starting) + 1e-9);
  const int most = std::max(static_cast<int>(std::min(total, double{kMostStoredTasks})), sample.ready + 1);
  return std::max(sample.count(), std::min(count, most));
}

void CountSmoother::SaveRecommendations(ByteWriter& out) const {
  out.PutVarint(raw_.size());
  for (const Raw& r : raw_) {
    out.Put(r.window);
    out.Put(r.count);
  }
}

void CountSmoother::SaveFigures(ByteWriter& out) const {
  out.Put(deferred_);
  out.Put(trajectory_);
  out.Put(smoothed_);
}

void CountSmoother::LoadRecommendations(StoredValues& in) {
  raw_.clear();
  for (size_t n = in.Size(kMostStoredWindows); n > 0 && in.ok(); --n) {
    const int64_t window = in.Step();
    in.Require(raw_.empty() || window > raw_.back().window);
    raw_.push_back({window, in.Within(-double{kMostStoredTasks}, double{kMostStoredTasks})});
  }
}

void CountSmoother::LoadFigures(StoredValues& in) {
  deferred_ = in.Within(0.0, double{kMostStoredTasks});
  trajectory_ = in.Within(0.0, double{kMostStoredTasks});
  smoothed_ = in.Count();
}

}  // namespace taut::brain
