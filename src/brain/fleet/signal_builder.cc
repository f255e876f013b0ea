#include "brain/fleet/signal_builder.h"

#include <algorithm>

namespace taut::brain {
namespace {

void AppendMemoryBuckets(std::span<const TaskUsage> tasks, std::vector<BucketWeight>& buckets) {
  const size_t first = buckets.size();
  const Grid& grid = Grid::Memory();
  for (const TaskUsage& t : tasks) buckets.push_back({grid.BucketOf(t.peak), 1.0F});
  if (tasks.size() < 2) return;
  const auto begin = buckets.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, buckets.end(),
            [](const BucketWeight& a, const BucketWeight& b) { return a.bucket < b.bucket; });
  auto out = begin;
  for (auto it = begin + 1; it != buckets.end(); ++it) {
    if (it->bucket == out->bucket) {
      out->weight += it->weight;
    } else {
      *++out = *it;
    }
  }
  buckets.erase(out + 1, buckets.end());
}

// Lowers a task's memory to the probed need. Returns false if the need is unknown or is not below the usage.
bool TakeNeeded(const TaskWindow& task, TaskUsage& usage) {
  if (task.memory_needed_bytes < 0) return false;
  const auto needed = static_cast<float>(kNeedMargin * double{task.memory_needed_bytes});
  if (needed >= usage.peak) return false;
  usage.peak = needed;
  usage.mean = std::min(usage.mean, needed);
  return true;
}

}  // namespace

void MemoryBuckets(std::span<const TaskUsage> tasks, std::vector<BucketWeight>& buckets) {
  buckets.clear();
  AppendMemoryBuckets(tasks, buckets);
}

void Summarise(const Grid& grid, Signal& signal) {
  double weight = 0;
  double sum = 0;
  for (const BucketWeight& b : signal.buckets) {
    weight += b.weight;
    sum += b.weight * grid.UpperBound(b.bucket);
  }
  signal.weight = weight;
  signal.mean = weight > 0 ? sum / weight : 0;
  float peak = 0;
  for (const TaskUsage& t : signal.tasks) peak = std::max(peak, t.peak);
  signal.peak = peak;
}

void DaySignals::Build(const JobDay& day, Resource resource, MemorySignal of) {
  signals_.clear();
  extents_.clear();
  tasks_.clear();
  buckets_.clear();
  const bool cpu = resource == Resource::kCpu;  // only CPU has buckets of samples
  for (const JobWindow& w : day.windows) {
    Extent e{.first_task = tasks_.size(), .first_bucket = buckets_.size()};
    PerResource<std::optional<double>> together = {};
    bool is_needed = false;
    float usage_peak = 0;
    for (uint32_t i = 0; i < w.num_tasks; ++i) {
      const TaskWindow& t = day.tasks[w.first_task + i];
      for (const Resource r : kResources) {
        if (t.mean(r) >= 0) together[IndexOf(r)] = together[IndexOf(r)].value_or(0) + double{t.mean(r)};
      }
      // Limits are judged by the 5-minute mean of CPU, although the kernel throttles over shorter periods.
      TaskUsage usage{t.task, t.mean(resource), t.judged(resource)};
      if (!(usage.mean >= 0 && usage.peak >= 0)) continue;
      usage_peak = std::max(usage_peak, usage.peak);
      if (resource == Resource::kMemory && of == MemorySignal::kProbe) is_needed |= TakeNeeded(t, usage);
      tasks_.push_back(usage);
    }
    e.num_tasks = tasks_.size() - e.first_task;
    if (e.num_tasks == 0) continue;
    if (cpu) {
      buckets_.insert(buckets_.end(), day.cpu_buckets.begin() + w.first_bucket,
                      day.cpu_buckets.begin() + w.first_bucket + w.num_buckets);
    } else {
      AppendMemoryBuckets({tasks_.data() + e.first_task, e.num_tasks}, buckets_);
    }
    e.num_buckets = buckets_.size() - e.first_bucket;
    const float owner = w.limit(resource);
    Signal s{.window = w.window, .buckets = {}, .tasks = {}, .owner_limit = {}};
    if (owner >= 0) s.owner_limit = owner;
    const float owner_sum = w.limit_sum(resource);
    if (owner_sum >= 0) s.owner_limit_sum = owner_sum;
    if (w.load >= 0) s.load = w.load;
    s.used_together = together;
    for (const Resource r : kResources) {
      if (w.limit(r) >= 0) s.owner_limits[IndexOf(r)] = w.limit(r);
    }
    s.named = std::span(day.signals).subspan(w.first_signal, w.num_signals);
    if (is_needed) s.usage_peak = usage_peak;
    if (cpu && w.cpu_throttled >= 0) s.throttled = w.cpu_throttled;
    signals_.push_back(s);
    extents_.push_back(e);
  }
  const Grid& grid = GridOf(resource);
  for (size_t i = 0; i < signals_.size(); ++i) {
    const Extent& e = extents_[i];
    signals_[i].tasks = {tasks_.data() + e.first_task, e.num_tasks};
    signals_[i].buckets = {buckets_.data() + e.first_bucket, e.num_buckets};
    Summarise(grid, signals_[i]);
  }
}

}  // namespace taut::brain
